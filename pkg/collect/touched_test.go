package collect

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// heldObjects are objects by uid, all of one type; it stands for a store.
type heldObjects map[string]graph.Object

var widgets = graph.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}

func (h heldObjects) Lookup(uid, _ string) (graph.Type, graph.Object, bool) {
	o, ok := h[uid]
	return widgets, o, ok
}

func (h heldObjects) Referenced(uid string) bool {
	for _, o := range h {
		if slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool { return r.UID == uid }) {
			return true
		}
	}
	return false
}

// TestAPassOfNothingIsNotOfAllThereIs: a pass may have looked at what was heard before it was told
// of.
func TestAPassOfNothingIsNotOfAllThereIs(t *testing.T) {
	t.Parallel()
	d := newDue()
	if due, part := d.take(); part || due != nil {
		t.Errorf("the first pass is of %v", due)
	}
	d.done(nil)
	if due, part := d.take(); !part || due == nil || len(due) > 0 {
		t.Errorf("a pass of nothing is of %#v", due)
	}
}

// TestWhatAnEventGivesWorkTo_GC023_GC027: an event gives work to the object that it is of, to an
// owner that waits for it, to both or to none.
func TestWhatAnEventGivesWorkTo_GC023_GC027(t *testing.T) {
	t.Parallel()
	object := func(uid string, change ...func(*graph.Object)) *graph.Object {
		o := &graph.Object{Namespace: "ns", Name: uid, UID: uid}
		for _, f := range change {
			f(o)
		}
		return o
	}
	by := func(uid string) func(*graph.Object) {
		return func(o *graph.Object) {
			o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: uid, UID: uid})
		}
	}
	blocks := func(o *graph.Object) { o.Owners[len(o.Owners)-1].Block = true }
	named := func(name string) func(*graph.Object) { return func(o *graph.Object) { o.Name = name } }
	version := func(o *graph.Object) { o.ResourceVersion += "1" }
	deleted := func(finalizers ...string) func(*graph.Object) {
		return func(o *graph.Object) { o.DeletionTimestamp, o.Finalizers = 1, finalizers }
	}
	elsewhere := func(o *graph.Object) { o.Namespace = "elsewhere" }
	known := heldObjects{}
	for _, o := range []*graph.Object{object("alive"), object("waits", deleted(plan.ForegroundFinalizer)),
		object("dependent", by("owner")), object("owner"), object("else", elsewhere)} {
		known[o.UID] = *o
	}
	for name, tt := range map[string]struct {
		change cluster.Change
		want   string
	}{
		"a new object without owners":           {cluster.Change{Object: object("x")}, ""},
		"a new object whose owner is there":     {cluster.Change{Object: object("x", by("alive"))}, ""},
		"a new object whose owner is not there": {cluster.Change{Object: object("x", by("nobody"))}, "x"},
		"one of its two owners is not there": {cluster.Change{Object: object("x", by("alive"),
			by("nobody"))}, "x"},
		"a new object whose owner waits for its dependents": {cluster.Change{Object: object("x", by("waits"))}, "x waits"},
		"its owner has another name": {cluster.Change{Object: object("x",
			func(o *graph.Object) { by("alive")(o); o.Owners[0].Name = "other" })}, "x"},
		"its owner is in another namespace": {cluster.Change{Object: object("x", by("else"))}, "x"},
		"its owner has another kind": {cluster.Change{Object: object("x",
			func(o *graph.Object) { by("alive")(o); o.Owners[0].Kind = "Gadget" })}, "x"},
		"a new owner, of which dependents came first": {cluster.Change{Object: object("owner")}, "owner"},
		"a status changes": {cluster.Change{Before: object("x", by("nobody")),
			Object: object("x", by("nobody"), version)}, ""},
		"a reference is added": {cluster.Change{Before: object("x"),
			Object: object("x", by("alive"))}, "x"},
		"a reference is removed": {cluster.Change{Before: object("x", by("waits")),
			Object: object("x")}, "x waits"},
		"a reference does not block any more": {cluster.Change{Before: object("x", by("waits"), blocks),
			Object: object("x", by("waits"))}, "x waits"},
		"it is deleted in the background": {cluster.Change{Before: object("x"),
			Object: object("x", deleted("example.com/hold"))}, ""},
		"it is deleted in the foreground": {cluster.Change{Before: object("x"),
			Object: object("x", deleted(plan.ForegroundFinalizer))}, "x"},
		"it is deleted with another policy": {cluster.Change{Before: object("x",
			deleted(plan.ForegroundFinalizer)), Object: object("x", deleted(plan.OrphanFinalizer))}, "x"},
		"a finalizer of others is removed": {cluster.Change{Before: object("x",
			deleted("a", plan.ForegroundFinalizer)), Object: object("x", deleted(plan.ForegroundFinalizer))}, ""},
		"it comes to match the selector": {cluster.Change{Before: object("x"),
			Object: object("x", func(o *graph.Object) { o.Selected = true })}, "x"},
		"an object without dependents is gone": {cluster.Change{Gone: true, Before: object("x"),
			Object: object("x")}, ""},
		"an owner is gone": {cluster.Change{Gone: true, Object: object("owner")}, "owner"},
		"a dependent is gone whose owner waits": {cluster.Change{Gone: true, Object: object("x", by("waits"))},
			"waits"},
		"a dependent is gone whose owner is not there": {cluster.Change{Gone: true, Object: object("x", by("nobody"))}, "x"},
		"a dependent is gone whose owner stays":        {cluster.Change{Gone: true, Object: object("x", by("alive"))}, ""},
		"a new object that is called otherwise":        {cluster.Change{Object: object("x", named("y"), by("alive"))}, ""},
	} {
		tt.change.ResumePoint.Type = widgets
		if got := strings.Join(touched(tt.change, known), " "); got != tt.want {
			t.Errorf("%s: it gives work to %q, want %q", name, got, tt.want)
		}
	}
}
