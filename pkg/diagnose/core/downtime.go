package core

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Downtime is why the workloads of an actor do not work.
type Downtime struct {
	Evidence []v1alpha1.Observation
	// Repairs are clauses that say what to repair, and steps what shows more or does it.
	Repairs []string
	Steps   []Step
	// Starting says that nothing is known to be wrong with what is not ready yet.
	Starting bool
}

// DownWorkloads looks into the workloads of an actor that have no ready pod.
func (e *Examination) DownWorkloads(ctx context.Context, b Responsible) Downtime {
	var d Downtime
	for _, w := range b.Scaled {
		if w.GetDeletionTimestamp() != nil || len(b.Scaled) > 1 && e.Closed(ctx, w.GetNamespace()) {
			continue
		}
		start := At(e.Ref(w), Command("kubectl", "scale", "OBJECT", "--replicas=1")).Doing("starts " + b.Name + " again")
		if by := e.scaler(ctx, w); by != nil {
			d.Evidence = append(d.Evidence, ObservedAt(cluster.Place(by, "spec.scaleTargetRef"), fmt.Sprintf(
				"%s scales %s %s: KEDA scales it to 0 again if it is only started by hand", cluster.Located(by), w.GetKind(),
				w.GetName()))...)
			d.Steps = append(d.Steps, At(e.Ref(by), Command("kubectl", "annotate", "OBJECT", pausedAt+"=1", "--overwrite")).
				Doing("has KEDA run one replica").Risking(b.RiskOnceStarted()).CreatingIn(w.GetNamespace()))
		}
		d.Steps = append(d.Steps, start.Risking(b.RiskOnceStarted()).CreatingIn(w.GetNamespace()))
	}
	for _, w := range b.Workloads {
		if actor.ReadWorkload(w).Life == actor.Alive {
			continue
		}
		d.Add(ctx, e, w)
	}
	return d
}

// Add takes over what is wrong with one workload.
func (d *Downtime) Add(ctx context.Context, e *Examination, w *unstructured.Unstructured) {
	faults, unread := e.Actors.Faults(ctx, w)
	d.Evidence = append(d.Evidence, Observed(unread...)...)
	for _, fault := range faults {
		d.add(ctx, e, fault)
	}
}

// AddPod takes over what is wrong with one pod, if anything is.
func (d *Downtime) AddPod(ctx context.Context, e *Examination, pod *unstructured.Unstructured) {
	if fault, wrong := e.Actors.PodFault(pod); wrong && !fault.Starting {
		d.add(ctx, e, fault)
	}
}

func (d *Downtime) add(ctx context.Context, e *Examination, fault actor.Fault) {
	d.Evidence = append(d.Evidence, ObservedAt(fault.From, fault.Says)...)
	d.Starting = (d.Starting || len(d.Repairs) == 0) && fault.Starting
	d.Repairs = append(d.Repairs, fault.Repair)
	switch {
	case fault.Logs && fault.Previous:
		d.Show(At(e.Ref(fault.Pod), Command("kubectl", "logs", "OBJECT", "-c", fault.Container, "--previous")),
			"shows what it said before it ended")
	case fault.Logs && fault.Container != "":
		d.Show(At(e.Ref(fault.Pod), Command("kubectl", "logs", "OBJECT", "-c", fault.Container)), "shows what it says")
	case fault.Pod != nil:
		d.Show(At(e.Ref(fault.Pod), Describe()), "shows what its node or the scheduler says")
	}
	if fault.Webhook == "" {
		return
	}
	hooks, _ := e.Reader.Admission().Webhooks(ctx)
	for _, h := range hooks {
		if h.Name == fault.Webhook {
			d.Show(At(e.Ref(h.Config), Describe()), "shows what the webhook is called for")
			d.Steps = append(d.Steps, At(e.Ref(h.Config),
				ignoring(h.Index)).Doing("has the server go on without the webhook while it does not answer").Disturbing())
		}
	}
}

// Show adds a step that shows something.
func (d *Downtime) Show(s Step, does string) {
	d.Steps = append(d.Steps, s.Safely(does))
}

// pausedAt is the annotation with which KEDA scales the target of a ScaledObject to a number, and leaves
// it there (https://keda.sh/docs/latest/concepts/scaling-deployments/#pausing-autoscaling).
const pausedAt = "autoscaling.keda.sh/paused-replicas"

// scaler is the ScaledObject of KEDA that scales a workload: what is scaled to 0 by that does not stay
// started. It is nil if none does, or none can be listed.
func (e *Examination) scaler(ctx context.Context, w *unstructured.Unstructured) *unstructured.Unstructured {
	r, served := e.Reader.KindIn("keda.sh", "ScaledObject")
	if !served {
		return nil
	}
	all := e.List(ctx, r.Type, w.GetNamespace())
	i := slices.IndexFunc(all, func(o *unstructured.Unstructured) bool { return scalesToZero(o, w) })
	if i < 0 {
		return nil
	}
	return all[i]
}

// scalesToZero reports whether a ScaledObject scales a workload, and to 0: as a rule, or as it says
// when it is paused or idle. One that is paused without a number scales nothing
// (https://keda.sh/docs/latest/reference/scaledobject-spec/).
func scalesToZero(o, w *unstructured.Unstructured) bool {
	target := func(key, otherwise string) string {
		return status.FieldOr(o, "spec.scaleTargetRef."+key, otherwise)
	}
	of, err := schema.ParseGroupVersion(target("apiVersion", "apps/v1"))
	if err != nil || of.Group != w.GroupVersionKind().Group || target("kind", "Deployment") != w.GetKind() ||
		target("name", "") != w.GetName() || o.GetDeletionTimestamp() != nil {
		return false
	}
	if at, paused := o.GetAnnotations()[pausedAt]; paused {
		return at == "0"
	}
	if o.GetAnnotations()["autoscaling.keda.sh/paused"] == "true" {
		return false
	}
	least, _, _ := unstructured.NestedInt64(o.Object, "spec", "minReplicaCount")
	_, idles, _ := unstructured.NestedInt64(o.Object, "spec", "idleReplicaCount") // which can be 0 only
	return least == 0 || idles
}
