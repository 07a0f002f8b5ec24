package core

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
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
		d.Steps = append(d.Steps, At(e.Ref(w), Command("kubectl", "scale", "OBJECT", "--replicas=1")).
			Doing("starts "+b.Name+" again").Risking(b.RiskOnceStarted()).CreatingIn(w.GetNamespace()))
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
	d.Steps = append(d.Steps, s.Doing(does).Risking(finalizer.RiskNone))
}
