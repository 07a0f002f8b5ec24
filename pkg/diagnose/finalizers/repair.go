package finalizers

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// downLead looks into the one workload that RBAC lets remove a finalizer, as if it were the actor.
func (e *Examiner) downLead(ctx context.Context, b core.Responsible, only *unstructured.Unstructured) core.Downtime {
	if only.GetKind() == "Pod" {
		return core.Downtime{}
	}
	b.Name, b.Workloads, b.Scaled = graph.Located(only.GetKind(), only.GetNamespace(), only.GetName()), []*unstructured.Unstructured{only}, nil
	if actor.ReadWorkload(only).Scaled {
		b.Scaled = b.Workloads
	}
	return e.DownWorkloads(ctx, b)
}

// remedied says what to repair, or that what is switched off is to be started. Nobody is told to start what is started and fails.
func (e *Examiner) remedied(ctx context.Context, b core.Responsible, d core.Downtime, f core.Finding) core.Finding {
	switch {
	case d.Starting:
		f.Remedy = phrase.Sentence(b.Name+" is starting: wait, and run the command again") + b.OnceRunning()
	case len(d.Repairs) > 0:
		f.Remedy = phrase.Sentence(b.Name + " is down and cannot just be started again")
		for _, r := range d.Repairs[:min(len(d.Repairs), phrase.MaxNamed)] {
			f.Remedy += " " + phrase.Sentence(r)
		}
		f.Remedy += " It removes the finalizer then." + b.OnceRunning()
	case b.Destroys():
		f.Remedy = phrase.Sentence("decide first what is to be kept: once it is started, "+b.Name+" deletes") + b.OnceRunning()
	default:
		f.Remedy = f.UsualOf(core.FinalizerActorDead)
	}
	f.Commands = append(d.Steps, f.Commands...)
	if w := b.Workloads; len(w) > 0 && !slices.ContainsFunc(w, func(w *unstructured.Unstructured) bool { return !e.Closed(ctx, w.GetNamespace()) }) {
		f = e.Possible(ctx, f, core.Creation{
			What: fmt.Sprintf("the pods of %s %s", w[0].GetKind(), w[0].GetName()), Namespace: w[0].GetNamespace(), Elsewhere: true, Left: "Otherwise the remaining option is to remove the finalizer by hand.",
		})
	}
	return f
}
