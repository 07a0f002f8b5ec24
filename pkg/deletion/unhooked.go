package deletion

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// hooksLost are the webhooks that lose what answers them with a plan, the objects that nobody can
// delete any more then, and those of which the collector cannot remove finalizers or references.
type hooksLost struct {
	hooks   []plan.Unhooked
	refused map[graph.ID]string
	updates []plan.Unanswered
}

// findUnhooked finds out which webhooks with failurePolicy Fail a plan leaves without what answers
// them, though it does not delete their configurations, or only after what they refuse. If they
// cannot be listed, nothing is said. The error is the end of ctx.
func findUnhooked(ctx context.Context, reader *cluster.Reader, p *plan.Plan) (hooksLost, error) {
	lost := hooksLost{refused: map[graph.ID]string{}}
	set := deletedOf(p)
	if !slices.ContainsFunc(set.ids, func(id graph.ID) bool { return isOf(p.Graph.Ref(id), backendTypes) }) {
		return lost, nil
	}
	for _, operation := range []admissionv1.OperationType{admissionv1.Delete, admissionv1.Update} {
		for _, b := range admissionBackends(ctx, reader, p.Graph, operation) {
			if _, lacks := set.behind(ctx, reader, b.Service); !lacks {
				continue
			}
			silent := set.silent(ctx, reader, b.Service)
			config, listed := p.Graph.Find(b.config.Group(), b.config.Resource, "", b.config.Name)
			goes := listed && set.is[config]
			if goes && (operation != admissionv1.Delete || set.goneIn(config) <= silent) {
				continue // nothing is called then
			}
			of := hooksLost{refused: map[graph.ID]string{}}
			of.add(p, b, operation, silent)
			if goes && p.Without(of.refused).End().Gone(config) {
				continue // what was refused is sent again, until it is
			}
			lost.join(of)
		}
	}
	return lost, context.Cause(ctx)
}

// add adds a webhook, and what is refused because nothing answers it after a wave. The requests of
// this command are sent before.
func (l *hooksLost) add(p *plan.Plan, b backend, operation admissionv1.OperationType, silent int) {
	hook := plan.Unhooked{Config: b.config, Service: graph.Ref{APIVersion: "v1", Kind: "Service",
		Resource: cluster.Services.Resource, Namespace: b.Namespace, Name: b.Name}}
	l.hooks = append(l.hooks, hook)
	var called []graph.ID
	for _, a := range p.Actions {
		if (a.Verb == plan.VerbDelete) == (operation == admissionv1.Delete) && a.Verb != plan.VerbFinalizeNamespace &&
			a.By != plan.ByClient && a.Wave > silent && b.calls(a.Object) {
			called = append(called, a.Object)
		}
	}
	if operation == admissionv1.Delete {
		for _, id := range called {
			l.refused[id] = fmt.Sprintf("once nothing answers at %s, which %s calls", hook.Service.Located(),
				b.config.KindName())
		}
		return
	}
	slices.Sort(called)
	u := plan.Unanswered{Config: b.config, Because: "nothing answers at " + hook.Service.Located() + " then",
		Operation: string(operation), Objects: slices.Compact(called)}
	if len(called) > 0 {
		l.updates = append(l.updates, u)
	}
}

// join adds what others lose, each once.
func (l *hooksLost) join(other hooksLost) {
	for _, hook := range other.hooks {
		if !slices.Contains(l.hooks, hook) {
			l.hooks = append(l.hooks, hook)
		}
	}
	for _, u := range other.updates {
		if !slices.ContainsFunc(l.updates, u.Same) {
			l.updates = append(l.updates, u)
		}
	}
	maps.Copy(l.refused, other.refused)
}

// silent is the wave after which nothing answers at a backend: its Service is gone, or all pods of
// the workloads behind it are.
func (g deletedSet) silent(ctx context.Context, reader *cluster.Reader, b admission.Service) int {
	wave := math.MaxInt
	if id, ok := g.service(b); ok {
		wave = g.goneIn(id)
	}
	workloads := g.workloads(ctx, reader, b)
	if len(workloads) == 0 {
		return wave
	}
	var pods []graph.ID
	seen := map[graph.ID]bool{}
	for next := workloads; len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		if ref := g.plan.Graph.Ref(id); ref.Group() == "" && ref.Resource == "pods" {
			pods = append(pods, id)
		}
		for e := range g.plan.Graph.Dependents(id) {
			next = append(next, e.Dependent)
		}
	}
	if len(pods) == 0 { // those that could not be seen may answer
		return wave
	}
	return min(wave, g.goneIn(pods...))
}

// goneIn is the wave at whose end some objects are gone, as far as their finalizers let them; if one
// is not gone in the end it is after all others.
func (g deletedSet) goneIn(ids ...graph.ID) (last int) {
	waves := map[graph.ID]int{}
	for _, id := range ids {
		if _, gone := slices.BinarySearch(g.plan.Deleted, id); !gone {
			return math.MaxInt
		}
		waves[id] = 0
	}
	for _, a := range g.plan.Actions {
		if _, is := waves[a.Object]; is {
			waves[a.Object] = a.Wave
		}
	}
	for id, wave := range waves {
		if b, holds := g.plan.Blocker(id); holds && len(b.Finalizers) > 0 {
			wave++
		}
		last = max(last, wave)
	}
	return last
}
