package deletion

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Absent is an object that was meant and does not exist.
type Absent struct {
	Object graph.Ref
	// Hint names an object of a similar name; empty if there is none, or if dependents of the
	// object are left.
	Hint string
}

// findBegun finds the objects of a wait in the listing. One that does not exist is absent, and in
// its place come the absent owners of its name and type that dependents are left of.
func findBegun(ctx context.Context, query *selection.Query, objects []selection.Object, p *Planned) []graph.ID {
	g := p.Snapshot.Graph
	var ids []graph.ID
	var unlisted []selection.Object
	for _, o := range objects {
		if id, ok := o.Lookup(g); ok {
			ids = append(ids, id)
		} else {
			unlisted = append(unlisted, o)
		}
	}
	for i, err := range query.ExplainAll(ctx, g, unlisted) {
		if !apierrors.IsNotFound(err) && !errors.Is(err, selection.ErrAnother) {
			p.Missing = append(p.Missing, err)
			continue
		}
		absent := Absent{Object: unlisted[i].Ref()}
		left := absentOwners(g, absent.Object)
		if len(left) == 0 {
			absent.Hint = answer.Hint(err)
		}
		ids, p.Absent = append(ids, left...), append(p.Absent, absent)
	}
	return ids
}

// absentOwners are the nodes of owners that do not exist and that have the coordinates of an
// object, and its uid if that is known.
func absentOwners(g *graph.Graph, object graph.Ref) []graph.ID {
	var ids []graph.ID
	for id := range g.IDs() {
		if g.State(id) != graph.Absent {
			continue
		}
		ref := g.Ref(id)
		if ref.Group() == object.Group() && ref.Kind == object.Kind && ref.Namespace == object.Namespace &&
			ref.Name == object.Name && (object.UID == "" || object.UID == ref.UID) {
			ids = append(ids, id)
		}
	}
	return ids
}

// notBegun is the refusal to wait for objects that nobody deletes.
func (p *Planned) notBegun() error {
	if len(p.Kept) == 0 {
		return nil
	}
	objects := make([]graph.Ref, len(p.Kept))
	unknown := ""
	for i, k := range p.Kept {
		objects[i] = p.Graph.Ref(k.Object)
		if p.mayBeTaken(k) {
			unknown = "; whether an owner or the namespace is being deleted is not known, because not all types could be listed"
		}
	}
	return answer.Refuse(answer.WithHint(errors.New("not being deleted, so there is nothing to wait for: "+
		firstFew(objects)+unknown),
		"kubectl gc delete deletes them and waits for the whole cascade"))
}

// mayBeTaken says whether something could not be seen that takes an object along if it is being
// deleted: an owner, or the namespace.
func (p *Planned) mayBeTaken(k plan.ObjectReason) bool {
	for e := range p.Graph.Owners(k.Object) {
		if p.Graph.State(e.Owner) == graph.Unknown {
			return true
		}
	}
	namespace := p.Graph.Namespace(k.Object)
	if namespace == "" {
		return false
	}
	_, seen := p.Graph.Find("", "namespaces", "", namespace)
	return !seen
}
