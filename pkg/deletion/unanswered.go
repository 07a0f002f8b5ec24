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
	going, backends := goingOf(p), map[admission.Service]actor.Backend{}
	for _, of := range []struct {
		operation admissionv1.OperationType
		objects   []graph.ID
	}{{admissionv1.Update, updates(p)}, {admissionv1.Delete, deletes(p)}} {
		if len(of.objects) == 0 {
			continue
		}
		for _, b := range admissionBackends(ctx, reader, p.Graph, of.operation) {
			id, listed := p.Graph.Find(b.config.Group(), b.config.Resource, "", b.config.Name)
			called := slices.DeleteFunc(slices.Clone(of.objects), func(id graph.ID) bool { return !b.calls(id) })
			if listed && going.is[id] || len(called) == 0 {
				continue
			}
			behind, seen := backends[b.Service]
			if !seen {
				behind = actor.BackendOf(ctx, reader, b.Namespace, b.Name)
				backends[b.Service] = behind
			}
			u := plan.Unanswered{Config: b.config, Because: behind.Why, Operation: string(of.operation), Objects: called}
			if behind.Down && !slices.ContainsFunc(all, func(other plan.Unanswered) bool {
				return other.Config == u.Config && other.Operation == u.Operation && slices.Equal(other.Objects, u.Objects)
			}) {
				all = append(all, u)
			}
		}
	}
	return all, context.Cause(ctx)
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
