package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// reference is the finding about one reference.
func (f *finder) reference(o judged, i int, code Code) v1alpha1.CheckFinding {
	finding := f.about(o, i, code)
	finding.Message = f.message(o, i, code, &finding)
	effect, consequence := f.consequence(o, i)
	finding.Effect, finding.Consequence = string(effect), consequence
	f.remedy(o, i, &finding)
	return finding
}

// message says what is wrong with a reference, and notes the object that it is about besides.
func (f *finder) message(o judged, i int, code Code, finding *v1alpha1.CheckFinding) string {
	e := o.refs[i]
	owner := graph.Located(e.Kind, f.searched(e), e.Name)
	actual := f.Graph.Ref(e.Owner)
	switch code {
	case SelfReference:
		return "it owns itself"
	case OwnerAbsent:
		return "owner " + owner + " does not exist"
	case OwnerReplaced:
		now := f.Instead[e.Index]
		if now.UID == "" {
			return "owner " + owner + " was created again"
		}
		finding.Instead = new(now)
		return fmt.Sprintf("owner %s was created again, and has the uid %s", owner, now.UID)
	case WrongName, WrongKind:
		finding.Instead = new(actual)
		return fmt.Sprintf("the uid is that of %s, and the reference names %s", f.full(actual),
			f.full(graph.Ref{APIVersion: e.APIVersion, Kind: e.Kind, Namespace: f.searched(e), Name: e.Name}))
	case WrongNamespace:
		if instead, ok := f.Instead[e.Index]; ok {
			actual = instead
		}
		finding.Instead = new(actual)
		return fmt.Sprintf("the owner is %s, in another namespace", actual.Located())
	case WrongScope:
		return fmt.Sprintf("it is cluster-scoped, and owner %s %s is of a namespaced kind", e.Kind, e.Name)
	case KindNotServed:
		return fmt.Sprintf("no API serves kind %s of %s", e.Kind, e.APIVersion)
	case VersionNotServed:
		return fmt.Sprintf("kind %s is not served in %s, but in %s", e.Kind, e.APIVersion, phrase.And(f.versions(e)))
	case InexactKind:
		return f.inexact(e)
	case OwnerNotCollected:
		return fmt.Sprintf("the collector does not watch the type of owner %s", owner)
	case OwnerUnknown:
		return fmt.Sprintf("whether owner %s exists could not be found out", owner)
	case OwnerDeleting:
		return fmt.Sprintf("owner %s is being deleted in the foreground", owner)
	case OwnerOrphans:
		return fmt.Sprintf("owner %s is being deleted with the policy Orphan", owner)
	}
	return byCode[code].Meaning
}

// inexact says how a kind that is not spelled as it is served should be spelled.
func (f *finder) inexact(e graph.Edge) string {
	exact := f.exactKinds(e)
	switch {
	case len(exact) > 1:
		return fmt.Sprintf("kind %s of %s can mean %s", e.Kind, e.APIVersion, phrase.Or(resources(exact)))
	case len(exact) == 1 && exact[0].Kind != e.Kind:
		return fmt.Sprintf("kind %s is served as %s", e.Kind, exact[0].Kind)
	}
	return fmt.Sprintf("kind %s of %s is not the name of one type", e.Kind, e.APIVersion)
}

// exactKinds are the types that a kind can mean, however it is spelled.
func (f *finder) exactKinds(e graph.Edge) []graph.Type {
	return slices.DeleteFunc(f.Graph.Types(), func(t graph.Type) bool {
		return t.Group != groupKind(e)[0] || !strings.EqualFold(t.Kind, e.Kind)
	})
}

func resources(all []graph.Type) []string {
	return phrase.Words(all, func(t graph.Type) string { return t.Ref("", "", "").QualifiedResource() })
}

// versions are the apiVersions in which the kind is served that a reference names.
func (f *finder) versions(e graph.Edge) []string {
	return phrase.Words(f.served[groupKind(e)], graph.Type.APIVersion)
}

// searched is the namespace in which the collector looks for the owner that a reference names.
func (f *finder) searched(e graph.Edge) string {
	for _, t := range f.served[groupKind(e)] {
		if !t.Namespaced {
			return ""
		}
	}
	return f.Graph.Namespace(e.Dependent)
}

// full names an object with its apiVersion.
func (f *finder) full(r graph.Ref) string { return r.Located() + " of " + r.APIVersion }

// consequence says what the collector does about a reference.
func (f *finder) consequence(o judged, i int) (Effect, string) {
	e, state := o.refs[i], o.states[i]
	switch {
	case o.deleting:
		return None, "none: the object is being deleted already"
	case state == plan.BadScope:
		return KeepObject, "the collector never acts on the object, and keeps it even when all of its owners are gone"
	case f.unserved(e):
		return KeepObject, "the collector never acts on the object as long as the kind is not served, and keeps it even when all of its owners are gone"
	case state == plan.Unknown:
		return Undetermined, "unknown: if the owner does not exist, the collector treats the reference as absent"
	case o.decision.Do == plan.Unresolvable && o.frozen:
		return KeepObject, "the collector does not act on the object: another of its references can never be resolved"
	case o.decision.Do == plan.Unresolvable && state != plan.Solid:
		return Undetermined, "unknown: it depends on another owner, which could not be read"
	case state == plan.Orphaning:
		return RemoveReference, "the collector removes the reference before the owner is gone, and looks at the others after that"
	case o.decision.Do == plan.Later && state != plan.Solid:
		return Undetermined, "unknown: the collector decides when another owner has orphaned the object"
	case o.decision.Do == plan.RemoveOwnerRefs && state != plan.Solid:
		return RemoveReference, "the collector removes the reference, " + f.due(o.id, state) + ", and keeps the object: " +
			f.solid(o) + " owns it too"
	case o.decision.Do == plan.Delete:
		return DeleteObject, "the collector deletes the object, " + f.due(o.id, state) + f.dependents(o.id)
	case !f.collected(e) && e.Block:
		return BlockOwner, "the collector deletes the object up to 1000 s after its owner is gone, and an owner that is deleted in the foreground is never gone"
	case !f.collected(e):
		return None, "the collector notices up to 1000 s late that the owner is gone"
	case e.Problem&graph.SelfReference != 0 && e.Block:
		return BlockDeletion, "the collector keeps the object as long as nobody deletes it, and deleted in the foreground it waits for itself forever"
	case e.Problem&graph.SelfReference != 0:
		return KeepObject, "the collector keeps the object as long as nobody deletes it: it has an owner that exists"
	case e.Problem&graph.InexactKind != 0:
		return None, "none: the collector finds the owner by a guess"
	}
	return None, "none"
}

// due says when the collector acts on a reference to an owner in a state. A dependent that does not
// block an owner is left while others do, where the owner has waited since before the collector
// began (GC-061).
func (f *finder) due(id graph.ID, state plan.OwnerState) string {
	if state == plan.Waiting && len(f.actions[id]) == 0 {
		return "at the latest when the owner is gone"
	}
	return "within seconds while it runs"
}

// solid names the owner because of which an object is kept.
func (f *finder) solid(o judged) string {
	for i, s := range o.states {
		if s == plan.Solid {
			return graph.Located(o.refs[i].Kind, "", o.refs[i].Name)
		}
	}
	return "another owner"
}

// dependents says that the dependents of a deleted object follow.
func (f *finder) dependents(id graph.ID) string {
	n := 0
	last := graph.ID(-1)
	for e := range f.Graph.Dependents(id) { // the references of an object stand together
		if e.Dependent != last && e.Dependent != id {
			n++
		}
		last = e.Dependent
	}
	if n == 0 {
		return ""
	}
	return "; " + phrase.Count(n, "dependent") + " " + phrase.Plural(n, "loses", "lose") + " an owner by that"
}

// cycle finds the reference by which an object is its own owner by way of others. A cycle with a
// reference that the collector takes for absent is none to it.
func (f *finder) cycle(o judged) {
	c, in := f.Graph.Cycle(o.id)
	if !in || len(f.Graph.Cycles()[c]) < 2 {
		return
	}
	members := f.Graph.Cycles()[c]
	for i, e := range o.refs {
		if other, in := f.Graph.Cycle(e.Owner); !in || other != c || e.Owner == o.id || o.states[i] != plan.Solid &&
			o.states[i] != plan.Waiting {
			continue
		}
		finding := f.about(o, i, OwnershipCycle)
		var names []string
		for _, id := range members {
			if id != o.id {
				names = append(names, f.Graph.Ref(id).Located())
			}
		}
		finding.Message = "it owns itself, by way of " + phrase.And(names)
		finding.Effect = string(KeepObject)
		finding.Consequence = "the collector keeps the members as long as nobody deletes one, even if nothing else owns them; deleted in the foreground, members with blockOwnerDeletion can wait for each other forever"
		finding.Remedy = "Remove the reference with which the cycle should not exist."
		finding.Commands = []string{f.removal(o, i)}
		f.add(finding)
		return
	}
}

// blocks finds references that block an owner of an object on which the collector never acts
// (GC-066).
func (f *finder) blocks(o judged) {
	if !o.frozen {
		return
	}
	for i, e := range o.refs {
		if !e.Block || !f.Graph.Observed(e.Owner) || e.Owner == o.id {
			continue
		}
		owner := f.Graph.Ref(e.Owner).Located()
		finding := f.about(o, i, BlocksOwner)
		finding.Message = fmt.Sprintf("it blocks owner %s, and is never collected", owner)
		finding.Effect, finding.Consequence = string(BlockOwner),
			fmt.Sprintf("deleted in the foreground, %s waits for this object forever", owner)
		finding.Remedy = "Correct or remove the reference that cannot be resolved, or set blockOwnerDeletion to false."
		finding.Commands = []string{f.replacement(o, i, "blockOwnerDeletion", false)}
		f.add(finding)
	}
}

// controllers finds a second reference with controller: true, which the server accepts no more.
func (f *finder) controllers(o judged) {
	first := -1
	for i, e := range o.refs {
		switch {
		case !e.Controller:
		case first < 0:
			first = i
		default:
			finding := f.about(o, i, SeveralControllers)
			finding.Message = fmt.Sprintf("%s %s and %s %s are both its controller", o.refs[first].Kind, o.refs[first].Name,
				e.Kind, e.Name)
			finding.Effect, finding.Consequence = string(Reject),
				"the server rejects every write of the object's references that leaves both, those of the collector among them"
			finding.Remedy = "Set controller to false on the reference to the owner that does not manage the object."
			finding.Commands = []string{f.replacement(o, i, "controller", false)}
			f.add(finding)
		}
	}
}

// duplicates finds references with a uid that another has.
func (f *finder) duplicates(o judged) {
	first := map[graph.ID]int{}
	for i, e := range o.refs {
		j, seen := first[e.Owner]
		if !seen {
			first[e.Owner] = i
			continue
		}
		finding := f.about(o, i, DuplicateReference)
		finding.Message = fmt.Sprintf("references %d and %d have the same uid", j, i)
		finding.Effect, finding.Consequence = string(None),
			"none by itself: the collector resolves each of them, and notices changes of the last one only"
		finding.Remedy = "Remove the one that is wrong, or either if both are the same."
		finding.Commands = []string{f.removal(o, i)}
		f.add(finding)
	}
}

// strayed is the finding about an object in a namespace that does not exist.
func (f *finder) strayed(id graph.ID, namespace string) v1alpha1.CheckFinding {
	ref := f.Graph.Ref(id)
	finding := v1alpha1.CheckFinding{Object: ref, Code: string(NamespaceGone),
		Message: "namespace " + namespace + " does not exist", Effect: string(KeepObject)}
	finding.Consequence = "nobody deletes the object: the namespace controller does not know the namespace, and before Kubernetes 1.37 the server answers every update with 404"
	create := phrase.Command("kubectl", "create", "namespace", namespace)
	if len(f.Graph.Finalizers(id)) > 0 {
		finding.Remedy = "Create the namespace again: before Kubernetes 1.37, only then can a finalizer be removed. Then delete it with all that is in it."
		finding.Commands = []string{create, phrase.Command("kubectl", "delete", "namespace", namespace)}
		return finding
	}
	finding.Remedy = "Delete the object if nobody needs it; the server accepts that. Otherwise create the namespace again."
	finding.Commands = []string{phrase.Command(append([]string{"kubectl", "delete"}, ref.Arguments()...)...), create}
	return finding
}

// upcoming is the finding about an object with which nothing is wrong, and on which the collector
// is going to act.
func (f *finder) upcoming(id graph.ID) {
	for _, a := range f.actions[id] {
		var code Code
		var effect Effect
		switch a.Verb {
		case plan.VerbRemoveFinalizer:
			code, effect = DeletionPending, None
		case plan.VerbOrphan:
			code, effect = OwnerCollected, RemoveReference
		case plan.VerbDelete:
			code, effect = OwnerCollected, DeleteObject
		case plan.VerbUnblock:
			code, effect = OwnerCollected, None
		default:
			continue
		}
		switch {
		case a.Because.Code == plan.OwnerOrphans:
			code = OwnerOrphans
		case a.Because.HasCause && a.Verb != plan.VerbRemoveFinalizer && f.Graph.State(a.Because.Cause) == graph.Deleting &&
			waits(f.Graph, a.Because.Cause):
			code = OwnerDeleting
		}
		finding := v1alpha1.CheckFinding{Object: f.Graph.Ref(id), Code: string(code),
			Effect: string(effect)}
		owner := "an owner"
		if a.Because.HasCause {
			owner = "owner " + f.Graph.Ref(a.Because.Cause).Located()
		}
		switch code {
		case DeletionPending:
			finding.Message, finding.Consequence = "it is being deleted",
				"the collector removes its own finalizer when nothing waits any more"
		case OwnerOrphans:
			finding.Message, finding.Consequence = owner+" is being deleted with the policy Orphan",
				"the collector removes the reference"
		case OwnerDeleting:
			finding.Message = owner + " is being deleted in the foreground"
		default:
			finding.Message = "the collector is going to delete " + owner
		}
		if finding.Consequence == "" {
			finding.Consequence = map[Effect]string{DeleteObject: "the collector deletes the object after that",
				RemoveReference: "the collector removes the reference after that",
				None:            "the collector sets blockOwnerDeletion to false"}[effect]
		}
		f.add(finding)
		return
	}
}

// waits reports whether an object waits for its dependents.
func waits(g *graph.Graph, id graph.ID) bool {
	return slices.Contains(g.Finalizers(id), plan.ForegroundFinalizer)
}
