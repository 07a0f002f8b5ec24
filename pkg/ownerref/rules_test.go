package ownerref_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TestWhatBecomesOfAnObjectIsWhatTheCollectorDoes with the owners that are left (GC-046 to GC-055).
func TestWhatBecomesOfAnObjectIsWhatTheCollectorDoes(t *testing.T) {
	t.Parallel()
	unread := ownerref.Owner{State: plan.Unknown, Err: errors.New("forbidden")}
	unserved := ownerref.Owner{State: plan.Unknown, Err: fmt.Errorf("%w Thing", ownerref.ErrNotServed)}
	is := func(s plan.OwnerState) ownerref.Owner { return ownerref.Owner{State: s} }
	for name, test := range map[string]struct {
		owners   []ownerref.Owner
		deleting bool
		want     ownerref.End
	}{
		"no owner":                {nil, false, ownerref.Unowned},
		"no owner, being deleted": {nil, true, ownerref.Kept},
		"one that is alive":       {[]ownerref.Owner{is(plan.Solid)}, false, ownerref.Kept},
		"one that is alive and one that is not": {[]ownerref.Owner{is(plan.Absent), is(plan.Solid), unread}, false,
			ownerref.Kept},
		"one that is absent":         {[]ownerref.Owner{is(plan.Absent)}, false, ownerref.Collected},
		"one that was created again": {[]ownerref.Owner{is(plan.Replaced)}, false, ownerref.Collected},
		"one that waits":             {[]ownerref.Owner{is(plan.Waiting)}, false, ownerref.Collected},
		"one that orphans":           {[]ownerref.Owner{is(plan.Orphaning)}, false, ownerref.Unowned},
		"one that orphans, and an absent one": {[]ownerref.Owner{is(plan.Orphaning), is(plan.Absent)}, false,
			ownerref.Collected},
		"one that could not be read":       {[]ownerref.Owner{is(plan.Absent), unread}, false, ownerref.Doubtful},
		"one of a kind that is not served": {[]ownerref.Owner{unserved, is(plan.Absent)}, false, ownerref.Doubtful},
		"one of a wrong scope":             {[]ownerref.Owner{is(plan.BadScope)}, false, ownerref.Kept},
	} {
		if got := ownerref.EndOf(test.deleting, test.owners); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestAnOwnerInAnotherNamespaceIsRefused, whoever asks for it: the command only finds those in the
// namespace of the object.
func TestAnOwnerInAnotherNamespaceIsRefused(t *testing.T) {
	t.Parallel()
	namespaced := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	nodes := graph.Type{Version: "v1", Resource: "nodes", Kind: "Node"}
	child := &graph.Object{Namespace: "a", Name: "x", UID: "x"}
	for name, test := range map[string]struct {
		owner   graph.Type
		object  graph.Object
		refused bool
	}{
		"another namespace":  {namespaced, graph.Object{Namespace: "b", Name: "o", UID: "o"}, true},
		"the same namespace": {namespaced, graph.Object{Namespace: "a", Name: "o", UID: "o"}, false},
		"no namespace":       {nodes, graph.Object{Name: "o", UID: "o"}, false},
	} {
		if err := (ownerref.Pair{ChildType: namespaced, OwnerType: test.owner, Child: child,
			Owner: &test.object}).Check(); (err != nil) != test.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
