package unfinalize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// methodOf returns how a finalizer is removed from an object as it is, and why it is not the method
// that could be expected. The names are all that are to be removed.
func methodOf(o *unstructured.Unstructured, h FinalizerRef, names []string) (Method, string) {
	switch {
	case h.Field == finalizer.InSpec:
		return ByFinalizing, ""
	case !deleting(o):
		return ByPatch, ""
	case h.Name == plan.OrphanFinalizer:
		return ByOrphaning, ""
	case h.Name == plan.ForegroundFinalizer:
		if why := deleteIgnored(o, names); why != "" {
			return ByPatch, why + "; a patch has the effect of the policy Background"
		}
		return ByPolicy, ""
	}
	return ByPatch, ""
}

// deleteIgnored says why a second delete with another policy, and the resourceVersion of what was
// assessed, is not the method; empty if it is. One after which nothing holds the object any more is
// always a Conflict: the server looks for an empty resourceVersion then (Store.Delete, v1.36).
func deleteIgnored(o *unstructured.Unstructured, names []string) string {
	switch {
	case grace(o) > 0:
		return "a second delete changes nothing while a grace period is pending" // API-005
	case len(specFinalizers(o)) > 0:
		return "a second delete changes nothing while spec.finalizers are not empty" // NS-003
	case !slices.ContainsFunc(o.GetFinalizers(), func(name string) bool { return !slices.Contains(names, name) }):
		return "the server takes no second delete with a resourceVersion that would end the object"
	}
	return ""
}

// Assess says what is to be done about a finalizer of an object, one of the names that are to be
// removed, and what speaks against it. It is pure: the same object, actor and details give the same
// assessment.
func Assess(o *unstructured.Unstructured, h FinalizerRef, names []string, who actor.Actor, details Details) Assessment {
	v := Assessment{FinalizerRef: h, Actor: who}
	v.Method, v.Note = methodOf(o, h, names)
	v.needData(o, names, details)
	if !deleting(o) {
		v.refuse(NotDeleting, WithForceLive, "it is not being deleted, so nothing waits for the finalizer to be removed",
			"--force-live removes it anyway; its controller may put it back")
	}
	v.needUnused(who)
	// Another policy is asked for, and the collector, alive or not, has no say in that.
	if who.Life == actor.Alive && !changesPolicy(o, h) {
		v.refuse(ActorAlive, WithForce, alive(who, o),
			"kubectl gc why says what it waits for; --force removes it without waiting")
	}
	switch v.Method {
	case ByPatch:
		v.weigh(who)
	case ByOrphaning:
		v.needDependents(details)
	case ByFinalizing:
		if lastHold(o, h) {
			v.needEmpty(o, details)
		}
	}
	if !changesPolicy(o, h) {
		v.needWitness(who)
	}
	return v
}

// needUnused refuses to release what is in use, or can be, whoever lives.
func (v *Assessment) needUnused(who actor.Actor) {
	users := phrase.Words(who.Users, actor.User.String)
	if n := len(users); n > 0 {
		v.refuse(InUse, WithForce, phrase.And(users)+phrase.Plural(n, " uses it", " use it"),
			"kubectl gc why says what to do about what uses it")
	}
	if who.UsersUnread != nil {
		v.refuse(UseUnknown, WithForce, fmt.Sprintf("whether anything uses it is not known: %v", who.UsersUnread), "")
	}
}

// changesPolicy reports whether removing the finalizer does no more than to ask for the policy
// Background.
func changesPolicy(o *unstructured.Unstructured, h FinalizerRef) bool {
	return deleting(o) && h == FinalizerRef{plan.ForegroundFinalizer, finalizer.InMetadata}
}

// assessHalfDeleted is the assessment about an object that nothing holds.
func assessHalfDeleted(o *unstructured.Unstructured, details Details) Assessment {
	v := Assessment{Method: ByDelete}
	v.needData(o, nil, details)
	if isNamespace(o) {
		v.needEmpty(o, details)
	}
	return v
}

// needWitness refuses what its actor may still do: dead is only who was found and does not work.
func (v *Assessment) needWitness(who actor.Actor) {
	if code := unproven(who); code != "" && v.skipsWork(who) {
		v.refuse(code, WithForce, notSeen(code, who)+"; "+Skipped(who), "kubectl gc why says what is known of it")
	}
}

// unproven is why it is not known whether an actor is alive or dead; empty if it is.
func unproven(who actor.Actor) Code {
	switch {
	case who.Life == actor.Alive:
		return ""
	case who.Outside:
		return ActorOutside
	case who.Life == actor.Dead && witnessed(who):
		return ""
	case witnessed(who):
		return ActorUnknown
	case who.Who == "":
		return ActorUnknown
	}
	return ActorNotFound
}

// witnessed reports whether something of the actor was seen in the cluster.
func witnessed(who actor.Actor) bool {
	return who.Found || len(who.Workloads)+len(who.Scaled) > 0
}

// skipsWork reports whether something is left undone without the actor. Where nothing is known of
// it, something may be.
func (v *Assessment) skipsWork(who actor.Actor) bool {
	switch {
	case v.Method == ByOrphaning, v.Field == finalizer.InSpec && v.Name == plan.NamespaceFinalizer:
		return false // its work is done, or proven to be done, before it is removed
	case !who.IsKnown:
		return true
	}
	return who.Known.Consequential() && who.Known.Polarity != finalizer.BuiltinGC
}

// notSeen says that it is not known whether the actor lives.
func notSeen(code Code, who actor.Actor) string {
	name := cmp.Or(who.Who, "the controller that removes it")
	switch {
	case code == ActorOutside:
		return name + " can run outside the cluster, where it may be running"
	case code == ActorUnknown && who.Who == "":
		return name + " is not known"
	case code == ActorUnknown:
		return "whether " + name + " is running is not known"
	case len(who.Searched) > 0:
		return name + " was not found (looked for " + phrase.And(who.Searched) +
			"), which does not mean that it is not running"
	}
	return name + " was not found, which does not mean that it is not running"
}

// Skipped says what is left undone without the actor.
func Skipped(who actor.Actor) string {
	if who.IsKnown {
		return who.Known.OnRemoval()
	}
	return "unknown which cleanup is skipped"
}

// alive says that whoever removes the finalizer would do so, or why it does not.
func alive(a actor.Actor, o *unstructured.Unstructured) string {
	who := cmp.Or(a.Who, "the controller that removes it")
	if ignores := a.Ignores(o); len(ignores) > 0 {
		says := phrase.Words(ignores, func(seen v1alpha1.Observation) string { return seen.Says })
		return who + " is running, and does not remove it: " + strings.Join(says, "; ")
	}
	because := who + " is running and is expected to remove it"
	if len(a.Says()) > 0 {
		because = fmt.Sprintf("%s is running (%s) and is expected to remove it", who, strings.Join(a.Says(), "; "))
	}
	return because
}

// weigh refuses what costs too much. The risk is that of removing the finalizer, whatever its
// polarity.
func (v *Assessment) weigh(a actor.Actor) {
	if !a.IsKnown {
		return
	}
	hint := a.Known.Before
	switch a.Known.Risk {
	case finalizer.DataLoss:
		v.refuse(DataLoss, WithForce, "data can be lost: "+a.Known.OnRemoval(), hint)
	case finalizer.BreaksCluster:
		v.refuse(BreaksCluster, WithForce, "it can break the cluster: "+a.Known.OnRemoval(), hint)
	}
}

// needDependents refuses to end an orphaning while a dependent may not have been seen: without its
// reference taken off it would be deleted. No flag overrides that (RO-012, T-13).
func (v *Assessment) needDependents(f Details) {
	switch {
	case f.Unlisted:
		v.refuse(HiddenDependents, Never,
			"it was not among the objects listed, so that its dependents are not known, and without the finalizer they would be deleted", "")
	case len(f.Hiding) > 0:
		v.refuse(HiddenDependents, Never,
			"types that may contain dependents could not be listed ("+gapNames(f.Hiding)+
				"), and such dependents would be deleted with it",
			"make these types available, or ask for permission to list them")
	}
}

// lastHold reports whether without the finalizer a namespace would go with whatever is in it: its
// controller's own is the one that sees to that, and the last one is what keeps it when that has
// been done (NS-004, NS-011).
func lastHold(o *unstructured.Unstructured, h FinalizerRef) bool {
	return h.Name == plan.NamespaceFinalizer || !slices.Contains(specFinalizers(o), plan.NamespaceFinalizer)
}

// needEmpty refuses to let a namespace go that is not proven to be empty (P-20).
func (v *Assessment) needEmpty(o *unstructured.Unstructured, f Details) {
	const stranded = "its content would stay in etcd, out of reach, and come back with the next namespace of that name"
	switch {
	case !deleting(o):
		v.refuse(NotEmpty, WithForce, "objects can be created in it at any time, and nothing would delete them with it", "")
	case f.Empty == nil:
		v.refuse(NotProvenEmpty, WithForce, "it was not checked whether anything is left in it", "")
	case len(f.Empty.Remaining) > 0:
		n := len(f.Empty.Remaining)
		v.refuse(NotEmpty, WithForce,
			fmt.Sprintf("%d %s left in it; %s", n, phrase.Plural(n, "object is", "objects are"), stranded),
			"kubectl gc why explains what blocks them")
	case len(f.Empty.Gaps) > 0:
		v.refuse(NotProvenEmpty, WithForce,
			"it may contain objects of types that could not be listed ("+gapNames(f.Empty.Gaps)+"); "+stranded,
			"make these types available, or ask for permission to list them")
	}
}

// gapNames names the first few gaps.
func gapNames(gaps []v1alpha1.Gap) string {
	return phrase.FirstFew(v1alpha1.TypeNames(gaps), 3)
}

// needData refuses what ends in the destruction of disks: of an object that goes with this, or of
// what follows it.
func (v *Assessment) needData(o *unstructured.Unstructured, names []string, f Details) {
	if f.After == nil || !released(o, names) {
		return
	}
	if n := len(f.After.Disks); n > 0 {
		v.refuse(DataLoss, WithForce, "it "+status.Destroys(f.After.Disks), status.KeepDisks(f.After.Disks))
	}
	if n := len(f.After.Unread); n > 0 {
		v.refuse(DataLoss, WithForce, fmt.Sprintf("%s would be deleted, and whether %s destroyed is not known: %v",
			phrase.Count(n, "PersistentVolumeClaim"), phrase.Plural(n, "its disk is", "their disks are"), f.After.Why), "")
	}
}

// Outside says what stays outside the cluster when the finalizers of a candidate are removed, as
// far as its object names it.
func (c *Candidate) Outside() []string { return leftBy(c.Object, c.by(ByPatch)) }

// leftBy says what an object stands for outside the cluster if the work of one of its finalizers is
// done nowhere.
func leftBy(o *unstructured.Unstructured, patched []Assessment) []string {
	skips := func(v Assessment) bool {
		return v.Note == "" && !(v.Actor.IsKnown && v.Actor.Known.Polarity == finalizer.BuiltinGC)
	}
	if !slices.ContainsFunc(patched, skips) {
		return nil
	}
	return status.Outside(o)
}
