package check

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

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

// waits says whether an object waits for its dependents.
func waits(g *graph.Graph, id graph.ID) bool {
	return slices.Contains(g.Finalizers(id), plan.ForegroundFinalizer)
}
