package tree_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
)

// printable is a tree as the printers take it.
type printable struct{ *v1alpha1.Tree }

func (p printable) DeepCopyObject() runtime.Object { return p }

// TestAStreamedTreeIsThePrintersTree: with no object, one and many, with gaps, hidden and repeated
// rows, byte for byte.
func TestAStreamedTreeIsThePrintersTree(t *testing.T) {
	configMaps := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	b := graph.NewBuilder()
	b.Serve(configMaps)
	listing := b.Listing(configMaps, "")
	owner := func(uid string) graph.OwnerReference {
		return graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: uid, UID: uid}
	}
	for _, o := range []graph.Object{
		{UID: "a", Name: "a"}, {UID: "b", Name: "b", Owners: []graph.OwnerReference{owner("a")}},
		{UID: "c", Name: "c", Owners: []graph.OwnerReference{owner("a"), owner("b")},
			Finalizers: []string{"example.com/<hold>"}},
		{UID: "d", Name: "d", Owners: []graph.OwnerReference{owner("c"), owner("nobody")}, DeletionTimestamp: 5},
	} {
		o.Namespace = "ns"
		listing.Add(o)
	}
	listing.Complete()
	g := b.Build()
	root, _ := g.Lookup("a")
	gaps := []v1alpha1.Gap{{Resource: "backups", Reason: v1alpha1.GapForbidden, Message: "no"}}
	for name, rows := range map[string][]graph.Row{
		"none": nil,
		"one":  g.Tree([]graph.ID{root}, graph.TreeOptions{Depth: 0}),
		"all":  g.Tree(g.Roots(), graph.TreeOptions{Depth: -1}),
		"cut":  g.Tree(g.Roots(), graph.TreeOptions{Depth: 1}),
		"hidden": g.Tree(g.Roots(), graph.TreeOptions{Depth: -1, HideRoots: true, Show: func(id graph.ID) bool {
			return g.Name(id) == "d"
		}}),
	} {
		for _, gaps := range [][]v1alpha1.Gap{nil, gaps} {
			s := &tree.Snapshot{Snapshot: &selection.Snapshot{Graph: g, Gaps: gaps}, Rows: rows}
			var want, got bytes.Buffer
			if err := (&printers.JSONPrinter{}).PrintObj(printable{s.Printed()}, &want); err != nil {
				t.Fatal(err)
			}
			if err := s.WriteJSON(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("%s, %d gaps (-printer +streamed):\n%s", name, len(gaps), diff)
			}
		}
	}
}

// failing is a writer that takes some bytes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

// TestAStreamThatFailsEnds: wherever the writer fails, the error is its own, and of many objects
// each comes once and in order.
func TestAStreamThatFailsEnds(t *testing.T) {
	configMaps := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	b := graph.NewBuilder()
	b.Serve(configMaps)
	listing := b.Listing(configMaps, "")
	for i := range 3000 {
		listing.Add(graph.Object{UID: fmt.Sprint(i), Namespace: "ns", Name: fmt.Sprintf("c%04d", i)})
	}
	listing.Complete()
	g := b.Build()
	s := &tree.Snapshot{Snapshot: &selection.Snapshot{Graph: g},
		Rows: g.Tree(g.Roots(), graph.TreeOptions{Depth: -1})}
	var want, got bytes.Buffer
	if err := (&printers.JSONPrinter{}).PrintObj(printable{s.Printed()}, &want); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteJSON(&got); err != nil || !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Errorf("%v, or the streamed tree of 3,000 objects is another", err)
	}
	for _, space := range []int{0, 5000, want.Len() / 2, want.Len() - 1} {
		if err := s.WriteJSON(&failing{space}); err == nil || err.Error() != "no space left" {
			t.Errorf("with space for %d bytes: %v", space, err)
		}
	}
}
