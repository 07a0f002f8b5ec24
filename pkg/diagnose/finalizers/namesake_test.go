package finalizers

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhatAFinalizerMayBeThereFor: another object of the group whose name it ends in, or another
// version of the program, whose finalizer the other objects of the type have.
func TestWhatAFinalizerMayBeThereFor(t *testing.T) {
	t.Parallel()
	database := graph.Type{Group: "example.com", Version: "v1", Resource: "databases", Kind: "Database", Namespaced: true}
	user := graph.Type{Group: "example.com", Version: "v1", Resource: "users", Kind: "User", Namespaced: true}
	secret := graph.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	deleted := time.Now().Unix()
	b := graph.NewBuilder()
	for _, namespace := range []string{"n", "m"} {
		l := b.Listing(database, namespace)
		l.Add(graph.Object{Namespace: namespace, Name: "db", UID: namespace + "-db", DeletionTimestamp: deleted})
		if namespace == "n" {
			l.Add(graph.Object{Namespace: "n", Name: "new", UID: "new", Finalizers: []string{"hold.new.example.com"}})
			l.Add(graph.Object{Namespace: "n", Name: "old", UID: "old", DeletionTimestamp: deleted, Finalizers: []string{"hold.old.example.com"}})
		}
	}
	b.Listing(user, "n").Add(graph.Object{Namespace: "n", Name: "ann", UID: "ann", DeletionTimestamp: deleted})
	b.Listing(user, "m").Add(graph.Object{Namespace: "m", Name: "bob", UID: "bob"})
	b.Listing(secret, "n").Add(graph.Object{Namespace: "n", Name: "tls", UID: "tls"})
	e := &Examiner{Examination: &core.Examination{Snapshot: core.Snapshot{Graph: b.Build()}}}
	for _, test := range []struct{ namespace, finalizer, want string }{
		{"n", "user.ann", "it ends in the name of User n/ann, which is being deleted too"},
		{"n", "example.com/user-ann", "User n/ann"},
		{"n", "user.bob", ""},          // who is in another namespace
		{"n", "example.org/joann", ""}, // part of a word
		{"n", "ann", ""},
		{"n", "example.org/tls", ""}, // of another group
		{"n", "keep.example.com", "no other Database has it, and 1 other has hold.new.example.com"},
		{"m", "keep.example.com", ""}, // where no other object is
		{"n", "hold.new.example.com", ""},
		{"n", "example.org/keep", ""}, // of another domain
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Database"}}
		o.SetNamespace(test.namespace)
		o.SetName("db")
		o.SetUID(types.UID(test.namespace + "-db"))
		got := ""
		for _, seen := range append(e.renamed(o, test.finalizer), e.namesake(o, test.finalizer)...) {
			got += seen.Says
		}
		if !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s in %s: %q, want %q", test.finalizer, test.namespace, got, test.want)
		}
	}
}
