package unfinalize

import (
	"context"
	"fmt"

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
	for i, review := range client.Reviews().Ask(ctx, accesses) {
		n := needed[i]
		if review.Permission != cluster.Denied || told[n.verdict] {
			continue
		}
		told[n.verdict] = true // one is enough: of a thousand dependents all are forbidden
		because := "you may not " + describe(n.access)
		if review.Reason != "" {
			because += ": " + review.Reason
		}
		n.verdict.refuse(Forbidden, Never, because, "ask for the right")
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

func describe(a cluster.Access) string {
	resource := a.Type.Resource
	if a.Type.Group != "" {
		resource += "." + a.Type.Group
	}
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	if a.Namespace == "" {
		return fmt.Sprintf("%s %s %q", a.Verb, resource, a.Name)
	}
	return fmt.Sprintf("%s %s in namespace %q", a.Verb, resource, a.Namespace)
}
