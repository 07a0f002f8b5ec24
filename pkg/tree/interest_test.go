package tree

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// TestEventDuringASnapshotIsJudgedByWhatThatShows: a dependent that comes while its owner is being
// drawn for the first time concerns what is shown then, and not what was shown before.
func TestEventDuringASnapshotIsJudgedByWhatThatShows(t *testing.T) {
	t.Parallel()
	widgets := graph.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}
	showing := func(uids ...string) *Snapshot {
		b := graph.NewBuilder()
		listing := b.Listing(widgets, "")
		for _, uid := range uids {
			listing.Add(graph.Object{Namespace: "ns", Name: uid, UID: uid})
		}
		listing.Complete()
		g := b.Build()
		s := &Snapshot{Snapshot: &selection.Snapshot{Graph: g}}
		for _, uid := range uids {
			id, _ := g.Lookup(uid)
			s.Rows = append(s.Rows, graph.Row{ID: id})
		}
		return s
	}
	created := func(uid, owner string) cluster.Change {
		o := &graph.Object{Namespace: "ns", Name: uid, UID: uid,
			Owners: []graph.OwnerReference{{APIVersion: "example.com/v1", Kind: "Widget", Name: owner, UID: owner}}}
		return cluster.Change{Object: o, ResumePoint: cluster.ResumePoint{Type: widgets}}
	}
	told := func(i *interest) bool {
		select {
		case <-i.changed:
			return true
		default:
			return false
		}
	}
	i := newInterest()
	i.look()
	i.set(showing("root"), false)
	i.look()
	i.event(created("pod", "replica"))
	i.event(created("stranger", "nobody"))
	if told(i) {
		t.Error("an event of what is not shown was told")
	}
	i.set(showing("root", "replica"), false)
	if !told(i) {
		t.Error("the event of a dependent of what is shown now was not told")
	}
	i.event(created("other", "nobody"))
	i.look()
	i.set(showing("root", "replica"), false)
	if told(i) {
		t.Error("events of before, or of strangers, were told")
	}
}
