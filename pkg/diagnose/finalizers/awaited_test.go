package finalizers

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhatALongTextAwaits: behind each of many kinds no more is read than the names that are there.
func TestWhatALongTextAwaits(t *testing.T) {
	t.Parallel()
	pods := graph.Type{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	b := graph.NewBuilder()
	l := b.Listing(pods, "n")
	for _, name := range []string{"a", "b"} {
		l.Add(graph.Object{Namespace: "n", Name: name, UID: name, DeletionTimestamp: 1})
	}
	catalog := &cluster.Catalog{Resources: []cluster.Resource{{Type: pods, Singular: "pod"}}}
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: catalog, Graph: b.Build()}}, nil)
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Site"}}
	o.SetNamespace("n")
	o.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	text := "waiting for pods a, b and c to be deleted" + strings.Repeat("; pod x", 100_000)
	if all := e.awaited(o, saying{what: "condition Ready", message: text}); len(all) != 2 {
		t.Errorf("%d objects, want 2", len(all))
	}
}
