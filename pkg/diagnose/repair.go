package diagnose

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// downLead looks into the one workload that RBAC lets remove a finalizer, as if it were the actor.
func (e *finalizers) downLead(ctx context.Context, b blame, only *unstructured.Unstructured) downtime {
	if only.GetKind() == "Pod" {
		return downtime{}
	}
	b.who, b.Workloads, b.Scaled = graph.Located(only.GetKind(), only.GetNamespace(), only.GetName()), []*unstructured.Unstructured{only}, nil
	if actor.ReadWorkload(only).Scaled {
		b.Scaled = b.Workloads
	}
	return e.downWorkloads(ctx, b)
}

// remedied says what to repair, or that what is switched off is to be started. Nobody is told to start what is started and fails.
func (e *finalizers) remedied(ctx context.Context, b blame, d downtime, f finding) finding {
	switch {
	case d.starting:
		f.remedy = phrase.Sentence(b.who + " is starting: wait, and run the command again")
	case len(d.repairs) > 0:
		f.remedy = phrase.Sentence(b.who + " is down and cannot just be started again")
		for _, r := range d.repairs[:min(len(d.repairs), phrase.MaxNamed)] {
			f.remedy += " " + phrase.Sentence(r)
		}
		f.remedy += " It removes the finalizer then."
	case b.destroys():
		f.remedy = phrase.Sentence("decide first what is to be kept: once it is started, " + b.who + " deletes")
	default:
		f.remedy = phrase.Sentence("start " + b.who + " again and let it finish")
	}
	f.remedy += b.honoured()
	f.commands = append(d.steps, f.commands...)
	if w := b.Workloads; len(w) > 0 && !slices.ContainsFunc(w, func(w *unstructured.Unstructured) bool { return !e.closed(ctx, w.GetNamespace()) }) {
		f = e.possible(ctx, f, creation{
			what: fmt.Sprintf("the pods of %s %s", w[0].GetKind(), w[0].GetName()), namespace: w[0].GetNamespace(), elsewhere: true, left: "Otherwise the remaining option is to remove the finalizer by hand.",
		})
	}
	return f
}
