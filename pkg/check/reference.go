package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

func uidOf(g *graph.Graph, e graph.Edge) types.UID { return types.UID(g.Ref(e.Owner).UID) }

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
	var exact []graph.Type
	for _, t := range f.Graph.Types() {
		if t.Group == groupKind(e)[0] && strings.EqualFold(t.Kind, e.Kind) {
			exact = append(exact, t)
		}
	}
	return exact
}

func resources(all []graph.Type) []string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = graph.Ref{APIVersion: t.APIVersion(), Resource: t.Resource}.QualifiedResource()
	}
	return names
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
