package unfinalize

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Rights asks what the user may do, and refuses what is known to be forbidden.
func Rights(ctx context.Context, client *cluster.Client, candidates []*Candidate) {
	var needed []cluster.Access
	var of []*Assessment
	for _, c := range candidates {
		for i := range c.Assessments {
			v := &c.Assessments[i]
			for _, right := range c.rights(v) {
				needed, of = append(needed, right), append(of, v)
			}
		}
	}
	told := map[*Assessment]bool{}
	for i, missing := range change.Denied(ctx, client, needed) {
		if v := of[i]; !told[v] {
			told[v] = true // one is enough: of a thousand dependents all are forbidden
			v.refuse(Forbidden, Never, missing.Error(), change.AskForPermission)
		}
	}
}

// rights are those that the writes of an assessment need.
func (c *Candidate) rights(v *Assessment) []cluster.Access {
	of := func(verb, subresource string, t graph.Type, ref graph.Ref) cluster.Access {
		return cluster.Access{Verb: verb, Subresource: subresource, Type: t, Namespace: ref.Namespace, Name: ref.Name}
	}
	switch v.Method {
	case ByPolicy, ByDelete:
		return []cluster.Access{of("delete", "", c.Type, c.Ref)}
	case ByFinalizing:
		return []cluster.Access{of("update", "finalize", c.Type, c.Ref)}
	case ByPatch:
		return []cluster.Access{of("patch", "", c.Type, c.Ref)}
	case ByOrphaning:
		needed := []cluster.Access{of("patch", "", c.Type, c.Ref)}
		for _, d := range c.Dependents {
			needed = append(needed, of("patch", "", d.Type, d.Ref))
		}
		return needed
	}
	return nil
}
