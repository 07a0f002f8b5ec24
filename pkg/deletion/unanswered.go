package deletion

import (
	"context"
	"iter"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// findUnanswered finds out which webhooks refuse what a plan needs, since nothing stands behind their
// Services: those with failurePolicy Fail that the server calls for each update or deletion of a
// type. Webhooks that go with the deletion are left out, and those that may not be listed. The error
// is the end of ctx.
func findUnanswered(ctx context.Context, reader *cluster.Reader, p *plan.Plan) (all []plan.Unanswered, err error) {
	behind := map[admission.Service]actor.Backend{}
	for _, of := range []struct {
		operation admissionv1.OperationType
		objects   func(*plan.Plan) []graph.ID
	}{{admissionv1.Update, updates}, {admissionv1.Delete, deletes}} {
		hooks := admissionBackends(ctx, reader, p.Graph, of.operation)
		if len(hooks) == 0 {
			break
		}
		places := byPlace(p.Graph, of.objects(p))
		for _, b := range hooks {
			id, listed := p.Graph.Find(b.config.Group(), b.config.Resource, "", b.config.Name)
			if _, goes := slices.BinarySearch(p.Deleted, id); listed && goes {
				continue
			}
			var called []graph.ID
			for _, ids := range places {
				if b.calls(ids[0]) {
					called = append(called, ids...)
				}
			}
			if _, seen := behind[b.Service]; !seen && len(called) > 0 {
				behind[b.Service] = actor.BackendOf(ctx, reader, b.Namespace, b.Name)
			}
			slices.Sort(called)
			u := plan.Unanswered{Config: b.config, Because: behind[b.Service].Why, Operation: string(of.operation),
				Objects: called}
			if len(called) > 0 && behind[b.Service].Down && !slices.ContainsFunc(all, u.Same) {
				all = append(all, u)
			}
		}
	}
	return all, context.Cause(ctx)
}

// byPlace are objects in groups of one type in one namespace: webhooks are matched once for each.
func byPlace(g *graph.Graph, ids []graph.ID) map[typeIn][]graph.ID {
	places := map[typeIn][]graph.ID{}
	for _, id := range ids {
		of, _ := g.Type(id)
		at := typeIn{of, g.Namespace(id)}
		places[at] = append(places[at], id)
	}
	return places
}

// updates are the objects of a plan whose finalizers or owner references have to be changed, sorted.
func updates(p *plan.Plan) []graph.ID {
	var ids []graph.ID
	for _, carriers := range []iter.Seq2[graph.ID, []string]{blockers(p), begun(p)} {
		for id, finalizers := range carriers {
			if len(finalizers) > 0 {
				ids = append(ids, id)
			}
		}
	}
	for _, a := range p.Actions {
		if a.Verb != plan.VerbDelete && a.Verb != plan.VerbFinalizeNamespace {
			ids = append(ids, a.Object)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// deletes are the objects that a plan has deleted, sorted.
func deletes(p *plan.Plan) []graph.ID {
	var ids []graph.ID
	for _, a := range p.Actions {
		if a.Verb == plan.VerbDelete {
			ids = append(ids, a.Object)
		}
	}
	slices.Sort(ids)
	return ids
}
