package finalizers

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// lacked is what whoever cleans up after an object may need and does not have, and how to mend that.
type lacked struct {
	seen       []v1alpha1.Observation
	what, mend string
}

// mayLack are the objects that an object names and that do not exist, and the pods that it owns and
// that do not run.
func (e *Examiner) mayLack(ctx context.Context, o *unstructured.Unstructured) lacked {
	absent, down := e.namedAbsent(ctx, o), e.ownDown(ctx, o)
	l := lacked{seen: slices.Concat(absent, down, e.come(ctx, o))}
	switch {
	case len(absent) > 0 && strings.Contains(absent[0].Says, "its metadata.labels["):
		l.what, l.mend = "what a label of the object names and does not exist", "create that again, or take the label off,"
	case len(absent) > 0:
		l.what, l.mend = "what the object names and does not exist", "create that again"
	case len(down) > 0:
		l.what, l.mend = "the pods of the object, which do not run", "repair them"
	}
	return l
}

// ownDown says why the pods of the workloads that a custom resource owns do not run: whoever cleans up
// after it may have to speak to them, and waits for what never comes. What may still start is left out.
func (e *Examiner) ownDown(ctx context.Context, o *unstructured.Unstructured) (seen []v1alpha1.Observation) {
	id, listed := e.Graph.Lookup(string(o.GetUID()))
	if !listed || cluster.BuiltIn(o.GroupVersionKind().Group) || o.GetDeletionTimestamp() == nil || e.Many {
		return nil
	}
	for edge := range e.Graph.Dependents(id) {
		ref := e.Graph.Ref(edge.Dependent)
		if ref.Group() != "apps" || !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, ref.Kind) ||
			len(seen) >= phrase.MaxNamed {
			continue
		}
		w := e.Own(ctx, edge.Dependent)
		if w == nil || actor.ReadWorkload(w).Life == actor.Alive {
			continue
		}
		faults, _ := e.Actors.Faults(ctx, w)
		for _, fault := range faults {
			if fault.Pod != nil && !fault.Starting {
				seen = append(seen, core.ObservedAt(fault.From, "it owns "+core.Named(ref)+", and "+fault.Says)...)
			}
		}
	}
	return seen
}
