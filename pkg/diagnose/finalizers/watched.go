package finalizers

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// watched is for a finalizer that no pack knows, of an object that no workload beside it may write: the
// one that may watch such objects there, and nothing else, may have lost the right.
func (e *Examiner) watched(ctx context.Context, b core.Responsible, f core.Finding, leads actor.Permissions) (
	core.Finding, bool) {
	beside := slices.ContainsFunc(leads.Workloads(),
		func(w *unstructured.Unstructured) bool { return w.GetNamespace() == b.Object.GetNamespace() })
	if b.IsKnown || beside || len(leads.Placed)+len(leads.Unread) > 0 || leads.Anybody != "" || e.Many {
		return f, false
	}
	only, seen := e.Actors.Watching(ctx, b.Object)
	if len(only) != 1 {
		return f, false
	}
	r, _ := e.Catalog.Kind(b.Object.GetAPIVersion(), b.Object.GetKind())
	what := r.GroupResource().String()
	f.Evidence = append(f.Evidence, seen...)
	f.Remedy = fmt.Sprintf("Look at %s first: it has no other work than such objects, and may not write them. If it removes the "+
		"finalizer, let its ServiceAccount update and patch %s again.", cluster.Located(only[0]), what)
	show := core.Describe().Safely("shows what its controller says of it")
	f.Commands = append(append(f.Commands, show, e.may(b, only[0], "patch", what)), e.log(only[0])...)
	return f, true
}
