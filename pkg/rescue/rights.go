package rescue

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// rights asks what the user may do, and refuses what is known to be forbidden. The right to update
// the owner's finalizers is only needed where the server enforces it (API-037), which cannot be
// seen.
func (p *Planned) rights(ctx context.Context, client *cluster.Client) {
	access := func(verb, subresource string, t graph.Type, ref graph.Ref) cluster.Access {
		return cluster.Access{Verb: verb, Subresource: subresource, Type: t, Namespace: ref.Namespace, Name: ref.Name}
	}
	var needed []cluster.Access
	if p.Stage != Created {
		create := access("create", "", p.Type, p.Ref)
		create.Name = ""
		needed = append(needed, create)
	}
	if p.Volume != nil {
		needed = append(needed, access("patch", "", p.volumes, *p.Volume))
	}
	blocks := false
	for _, d := range p.Dependents {
		needed = append(needed, access("patch", "", d.Type, d.Ref))
		blocks = blocks || d.blocks()
	}
	if blocks {
		needed = append(needed, access("update", "finalizers", p.Type, p.Ref))
	}
	told := map[cluster.Access]bool{}
	for _, missing := range change.Denied(ctx, client, needed) {
		all := missing.Access
		all.Name = "" // one is enough: of a thousand dependents all are forbidden
		switch because := missing.Error(); {
		case told[all]:
		case missing.Subresource != "":
			p.refuse(unfinalize.Forbidden, unfinalize.WithForce, because+", which a reference with blockOwnerDeletion can need",
				change.AskForPermission)
		default:
			p.refuse(unfinalize.Forbidden, unfinalize.Never, because, change.AskForPermission)
		}
		told[all] = true
	}
}

// dryRun sends the removal of references and finalizers with dryRun=All, and refuses what the
// server refuses. What has changed since it was read says nothing: it is read again when it is
// written to. The object cannot be created as long as it is there, so that this is not tried.
func (p *Planned) dryRun(ctx context.Context, client *cluster.Client, reader *cluster.Reader,
	known *finalizer.Registry) error {
	refusals := make([]error, len(p.Dependents))
	cluster.Each(client, p.Dependents, func(i int, d *Dependent) {
		o, err := read(ctx, client, d)
		if err != nil {
			return // it is read again
		}
		if steps := removal(o, p.Ref.UID); len(steps) > 0 {
			_, refusals[i] = d.in(client).Send(ctx, o.GetResourceVersion(), steps, cluster.PatchOptions{DryRun: true})
		}
		if now, err := read(ctx, client, d); refusals[i] != nil &&
			(err != nil || now.GetResourceVersion() != o.GetResourceVersion()) {
			refusals[i] = nil // a test has failed
		}
	})
	for i, err := range refusals {
		if err != nil {
			p.refuse(unfinalize.ServerRefuses, unfinalize.Never,
				fmt.Sprintf("the server would not let the references of %s be removed: %v", p.Dependents[i].Ref.Quoted(), err), "")
			break // one is enough
		}
	}
	if p.Finalizers == nil {
		return context.Cause(ctx)
	}
	return p.Finalizers.DryRun(ctx, client, reader, known)
}
