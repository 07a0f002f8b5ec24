package finalizers

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// TestWhatEndsTheUseByAll: where several use an object, one is told to wait, or to take it out of a field,
// only if that ends the use by each of them.
func TestWhatEndsTheUseByAll(t *testing.T) {
	t.Parallel()
	catalog := &cluster.Catalog{}
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: catalog}, Reader: cluster.NewReader(nil, catalog)}, nil)
	user := func(name, field, until string, owned bool) actor.User {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Queue"}}
		o.SetName(name)
		if owned {
			o.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": "example.com/v1",
				"kind": "Set", "name": "s", "uid": "u", "controller": true}}
		}
		return actor.User{Object: o, Use: finalizer.Use{Kind: "Queue", NameField: field, Until: until}}
	}
	for _, test := range []struct {
		users []actor.User
		want  string
	}{
		{[]actor.User{user("a", "spec.flavor", "", false), user("b", "spec.flavor", "", false)}, "or remove the reference from its spec.flavor"},
		{[]actor.User{user("a", "spec.flavor", "", true), user("b", "spec.flavor", "", false)}, ""},
		{[]actor.User{user("a", "spec.other", "", false), user("b", "spec.flavor", "", false)}, ""},
		{[]actor.User{user("a", "status.x", "it has ended", false), user("b", "status.x", "it has ended", false)}, "Wait until it has ended"},
		{[]actor.User{user("a", "status.x", "", false), user("b", "status.x", "it has ended", false)}, ""},
	} {
		q := &question{o: &unstructured.Unstructured{Object: map[string]any{"kind": "Flavor"}},
			a: actor.Actor{Finalizer: "example.com/in-use", Users: test.users}}
		remedy := e.holds.used(t.Context(), q)[0].Printed().Remedy
		if test.want == "" && (strings.Contains(remedy, "the reference") || strings.Contains(remedy, "Wait until")) ||
			!strings.Contains(remedy, test.want) {
			t.Errorf("want %q, got %q", test.want, remedy)
		}
	}
}
