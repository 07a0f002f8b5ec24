package restore

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// preflight asks the server for the rights that the steps need, before the first of them.
func (p *Plan) preflight(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) error {
	var accesses []cluster.Access
	asked := map[cluster.Access]bool{}
	add := func(s *Step, verb, subresource string) {
		a := cluster.Access{Verb: verb, Type: s.Type, Subresource: subresource, Namespace: s.Object.Namespace,
			Name: s.Object.Name}
		if verb == "create" {
			a.Name = "" // which no authorizer is told
		}
		if !asked[a] {
			asked[a] = true
			accesses = append(accesses, a)
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Verb == Create {
			add(s, "create", "")
		}
		if s.Verb != Create && s.Verb != SetStatus || len(s.Late) > 0 {
			add(s, "patch", "")
		}
		if p.writesStatus(s) {
			add(s, "update", "status")
		}
	}
	for _, missing := range change.Denied(ctx, client, accesses) {
		p.Forbidden = append(p.Forbidden, missing)
	}
	p.Forbidden = append(p.Forbidden, change.Enforced(ctx, client, p.enforcements(client, catalog))...)
	return context.Cause(ctx)
}

// writesStatus says whether a step writes the status of its object.
func (p *Plan) writesStatus(s *Step) bool {
	return s.Verb == SetStatus || p.opts.Status && s.Verb == Create && s.item.facts.status
}
