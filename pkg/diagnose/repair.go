package diagnose

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
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
func (e *examiner) downWorkloads(ctx context.Context, b blame) downtime {
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

// downLead looks into the one workload that RBAC lets remove a finalizer, as if it were the actor.
func (e *examiner) downLead(ctx context.Context, b blame, only *unstructured.Unstructured) downtime {
	if only.GetKind() == "Pod" {
		return downtime{}
	}
	b.who, b.Workloads, b.Scaled = graph.Located(only.GetKind(), only.GetNamespace(), only.GetName()), []*unstructured.Unstructured{only}, nil
	if actor.ReadWorkload(only).Scaled {
		b.Scaled = b.Workloads
	}
	return e.downWorkloads(ctx, b)
}

// add takes over what is wrong with one workload.
func (d *downtime) add(ctx context.Context, e *examiner, fault actor.Fault) {
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

// remedied says what to repair, or that what is switched off is to be started. Nobody is told to start what is started and fails.
func (e *examiner) remedied(ctx context.Context, b blame, d downtime, f finding) finding {
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
