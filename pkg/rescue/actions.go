package rescue

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// Actions are the writes that are due, in their order.
func (p *Planned) Actions() []plan.Write {
	var actions []plan.Write
	if p.Stage != Created {
		for _, d := range p.Dependents {
			if !d.Released {
				actions = append(actions, plan.Write{Verb: plan.VerbOrphan, Object: d.Ref, Cause: p.Ref})
			}
		}
		actions = append(actions, p.freeing()...)
		actions = append(actions, plan.Write{Verb: restore.Create, Object: p.unborn()})
	}
	if p.Volume != nil {
		actions = append(actions, plan.Write{Verb: restore.Rebind, Object: *p.Volume})
	}
	owner := p.Now
	if owner.UID == "" {
		owner = p.unborn()
	}
	for _, d := range p.Dependents {
		actions = append(actions, plan.Write{Verb: VerbAdopt, Object: d.Ref, Cause: owner})
	}
	return actions
}

// freeing are the writes that free the object. The references of its dependents are removed before
// in any case.
func (p *Planned) freeing() []plan.Write {
	var actions []plan.Write
	if p.Finalizers == nil {
		return nil
	}
	for _, c := range p.Finalizers.Candidates() {
		actions = append(actions,
			slices.DeleteFunc(c.Actions(), func(a plan.Write) bool { return a.Verb == plan.VerbOrphan })...)
	}
	return actions
}

// What a rescue does besides what other commands do, too.
const (
	// VerbUpdateStatus gives an object that was created again the status that it had.
	VerbUpdateStatus plan.Verb = "updateStatus"
	// VerbAdopt gives a dependent references to an owner.
	VerbAdopt plan.Verb = "adopt"
)

// Overrides are the refusals that the user has overridden.
type Overrides = unfinalize.Overrides

// errDeleting is of a dependent that cannot be written to any more.
var errDeleting = errors.New("it is being deleted itself")

// Stage is where a rescue stands, as a live read of the object tells.
type Stage string

// The stages of a rescue.
const (
	// Held: the object is being deleted and still exists.
	Held Stage = "Held"
	// Gone: the object is deleted, and was not created again.
	Gone Stage = "Gone"
	// Created: a rescue has created the object again.
	Created Stage = "Created"
	// Replaced: another object has the name, and no rescue of this one has created it.
	Replaced Stage = "Replaced"
	// Alive: the object is not being deleted.
	Alive Stage = "Alive"
)

// stageOf compares the live object, nil if it is proven to be absent, with the one that is rescued.
func (p *Planned) stageOf(live *unstructured.Unstructured) Stage {
	switch uid := p.Ref.UID; {
	case live == nil:
		return Gone
	case string(live.GetUID()) == uid && live.GetDeletionTimestamp() != nil:
		return Held
	case string(live.GetUID()) == uid:
		return Alive
	case live.GetDeletionTimestamp() == nil && p.isRestored(live):
		return Created
	}
	return Replaced
}

// isRestored reports whether a rescue has created a live object: the companion of the archive says
// so, or it is a copy of the archived one, which a rescue has created that was killed. The
// annotation alone, which anybody may write, is no proof.
func (p *Planned) isRestored(live *unstructured.Unstructured) bool {
	if p.record == nil {
		return false
	}
	sent := restore.Creatable(p.record.Object)
	return p.record.Created.Is(p.Ref.UID, string(live.GetUID())) || restore.IsCopy(sent, live) &&
		restore.OwnedAlike(p.record.Object, live)
}

// Printed is the plan as it is printed, and as its archive has it.
func (p *Planned) Printed() *v1alpha1.Plan {
	finalizers := p.Finalizers
	if finalizers == nil {
		finalizers = &unfinalize.Planned{}
	}
	out := finalizers.Printed()
	object := p.Ref
	out.Roots, out.Deleted, out.Actions = []v1alpha1.ObjectRef{object}, []v1alpha1.ObjectRef{}, []v1alpha1.Action{}
	out.Gaps = append(out.Gaps, p.Gaps...)
	out.Complete = len(out.Gaps) == 0
	for _, a := range p.Actions() {
		out.Actions = append(out.Actions, printed(a))
	}
	for _, d := range p.Dependents {
		for _, r := range d.References {
			out.References = append(out.References,
				v1alpha1.Reference{Object: d.Ref, OwnerReference: r.OwnerReference, Index: r.Index})
		}
	}
	out.Deleted = append(out.Deleted, p.Lost...)
	if len(p.Refusals) > 0 {
		out.Verdicts = append(out.Verdicts, v1alpha1.FinalizerVerdict{Object: object, Verdict: "Refused",
			Refusals: p.Overrides.Printed(p.Refusals)})
		for _, r := range p.Refusals {
			if r.Code == unfinalize.Forbidden {
				out.Forbidden = append(out.Forbidden, v1alpha1.Forbidden{Object: object, Reason: r.Because})
			}
		}
	}
	return out
}

// because says why a rescue does something.
var because = map[plan.Verb]string{
	plan.VerbOrphan:            "the owner is freed, and the collector must not delete it",
	plan.VerbRemoveFinalizer:   "it is freed",
	plan.VerbDelete:            "it is freed",
	plan.VerbFinalizeNamespace: "it is freed",
	restore.Create:             "it is created again as it was",
	VerbUpdateStatus:           "it had the status before",
	restore.Rebind:             "it is bound to the claim by its uid",
	VerbAdopt:                  "it had the references before",
}

// printed is one write as it is printed. The Cause is the object that references are removed from, or
// put back to; its uid is empty as long as that is not known.
func printed(w plan.Write) v1alpha1.Action {
	out := w.Printed(plan.ByClient)
	out.Because, out.Reason = because[w.Verb], "Rescue"
	if out.Owners = nil; w.Cause.UID != "" {
		out.Owners = []string{w.Cause.UID}
	}
	return out
}
