package finalizers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// touched is the annotation by which an object is changed so that who watches it looks again.
const touched = "gc.kubectl.dev/touched"

// again is what has a program that runs and has done nothing look at an object again.
type again struct {
	seen   []v1alpha1.Observation
	remedy string
	steps  []core.Step
}

// missed says how the first of some workloads that runs may have missed a deletion. One that was down
// then sees the object as a new one when it starts, and not every program looks there whether it is
// being deleted (https://github.com/dotnet/dotnet-operator-sdk/pull/972); a change has it look. One
// that ran all the time lists everything again when it is restarted. None has missed it if the object
// was written since.
func (e *Examiner) missed(b core.Responsible, workloads []*unstructured.Unstructured) again {
	deleted := b.Object.GetDeletionTimestamp()
	i := slices.IndexFunc(workloads, func(w *unstructured.Unstructured) bool {
		return actor.ReadWorkload(w).Life == actor.Alive &&
			slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, w.GetKind())
	})
	if i < 0 || deleted == nil {
		return again{}
	}
	w := workloads[i]
	name := cluster.Located(w)
	up, _ := status.Find(w, "Available")
	cameUp := up.Status == "True" && !up.Since.Before(deleted.Time)
	last, worked := status.ChangedSinceDeletion(b.Object)
	switch {
	case worked && (!cameUp || !last.At.Before(up.Since)):
		return again{}
	case cameUp:
		return again{
			seen: core.ObservedAt(cluster.Place(w, up.Field), fmt.Sprintf("%s became available %s ago, after the "+
				"deletion of the object, and was not before", name, phrase.Ago(e.Now.Sub(up.Since)))),
			remedy: " If its log does not name the object, it may have missed the deletion: a change of the object has it look " +
				"again.",
			steps: []core.Step{core.Command("kubectl", "annotate", "OBJECT", touched+"="+e.Now.UTC().Format(time.RFC3339),
				"--overwrite").Doing("changes the object, so that " + name + " looks at it again").Risking(b.RiskOnceRunning())},
		}
	}
	return again{
		remedy: " If its log does not name the object, it may have missed the deletion: a restart has it look at everything " +
			"again.",
		steps: []core.Step{core.At(e.Ref(w), core.Command("kubectl", "rollout", "restart", "OBJECT")).
			Doing("starts its pods again, which list everything").Risking(b.RiskOnceRunning()).Disturbing()},
	}
}

// lookAgain says how the only workload that may remove a finalizer looks at an object again of which
// nothing says what keeps it, and has it do so once it has had the time to.
func (e *Examiner) lookAgain(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	only := e.leads(ctx, b.Object).Only()
	if only == nil || e.said(ctx, b.Object).what != "" {
		return f
	}
	missed := e.missed(b, []*unstructured.Unstructured{only})
	f.Evidence = append(f.Evidence, missed.seen...)
	f.Remedy = f.Usual() + missed.remedy
	if e.quiet(b) >= finishing {
		f.Commands = append(f.Commands, missed.steps...)
	}
	return f
}
