package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// downtime is why the workloads of an actor do not work.
type downtime struct {
	evidence []v1alpha1.Observation
	// repairs are clauses that say what to repair, and steps what shows more or does it.
	repairs []string
	steps   []step
	// starting says that nothing is known to be wrong with what is not ready yet.
	starting bool
}

// downWorkloads looks into the workloads of an actor that have no ready pod.
func (e *core) downWorkloads(ctx context.Context, b blame) downtime {
	var d downtime
	for _, w := range b.Scaled {
		if len(b.Scaled) > 1 && e.closed(ctx, w.GetNamespace()) {
			continue
		}
		d.steps = append(d.steps, at(e.ref(w), command("kubectl", "scale", "OBJECT", "--replicas=1")).
			doing("starts "+b.who+" again").risking(b.honouring()).creatingIn(w.GetNamespace()))
	}
	for _, w := range b.Workloads {
		if actor.ReadWorkload(w).Life == actor.Alive {
			continue
		}
		faults, unread := e.actors.Faults(ctx, w)
		d.evidence = append(d.evidence, observed(unread...)...)
		for _, fault := range faults {
			d.add(ctx, e, fault)
		}
	}
	return d
}

// add takes over what is wrong with one workload.
func (d *downtime) add(ctx context.Context, e *core, fault actor.Fault) {
	d.evidence = append(d.evidence, observedAt(fault.From, fault.Says)...)
	d.starting = (d.starting || len(d.repairs) == 0) && fault.Starting
	d.repairs = append(d.repairs, fault.Repair)
	switch {
	case fault.Logs && fault.Previous:
		d.show(at(e.ref(fault.Pod), command("kubectl", "logs", "OBJECT", "-c", fault.Container, "--previous")), "shows what it said before it ended")
	case fault.Logs && fault.Container != "":
		d.show(at(e.ref(fault.Pod), command("kubectl", "logs", "OBJECT", "-c", fault.Container)), "shows what it says")
	case fault.Pod != nil:
		d.show(at(e.ref(fault.Pod), describe()), "shows what its node or the scheduler says")
	}
	if fault.Webhook == "" {
		return
	}
	hooks, _ := e.admission.Webhooks(ctx)
	for _, h := range hooks {
		if h.Name == fault.Webhook {
			d.steps = append(d.steps, at(e.ref(h.Config), ignoring(h.Index)).doing("has the server go on without the webhook while it does not answer"))
		}
	}
}

func (d *downtime) show(s step, does string) {
	d.steps = append(d.steps, s.doing(does).risking(finalizer.RiskNone))
}
