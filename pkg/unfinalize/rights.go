package unfinalize

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// right is what an assessment needs.
type right struct {
	verdict *Assessment
	access  cluster.Access
}

// Rights asks what the user may do, and refuses what is known to be forbidden.
func Rights(ctx context.Context, client *cluster.Client, candidates []*Candidate) {
	var needed []right
	for _, c := range candidates {
		for i := range c.Assessments {
			needed = append(needed, c.rights(&c.Assessments[i])...)
		}
	}
	accesses := make([]cluster.Access, len(needed))
	for i, n := range needed {
		accesses[i] = n.access
	}
	told := map[*Assessment]bool{}
	for i, missing := range change.Denied(ctx, client, accesses) {
		if v := needed[i].verdict; !told[v] {
			told[v] = true // one is enough: of a thousand dependents all are forbidden
			v.refuse(Forbidden, Never, missing.Error(), change.AskForTheRight)
		}
	}
}

// rights are those that the writes of an assessment need.
func (c *Candidate) rights(v *Assessment) []right {
	of := func(verb, subresource string, t graph.Type, ref graph.Ref) right {
		return right{v, cluster.Access{Verb: verb, Subresource: subresource, Type: t, Namespace: ref.Namespace, Name: ref.Name}}
	}
	switch v.Method {
	case ByPolicy, ByDelete:
		return []right{of("delete", "", c.Type, c.Ref)}
	case ByFinalizing:
		return []right{of("update", "finalize", c.Type, c.Ref)}
	case ByPatch:
		return []right{of("patch", "", c.Type, c.Ref)}
	case ByOrphaning:
		needed := []right{of("patch", "", c.Type, c.Ref)}
		for _, d := range c.Dependents {
			needed = append(needed, of("patch", "", d.Type, d.Ref))
		}
		return needed
	}
	return nil
}
