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

// TestARetiredFinalizer: of an actor of which no version of today removes the finalizer nothing else
// is asked, such as its rights, and nobody is told to wait for it.
func TestARetiredFinalizer(t *testing.T) {
	t.Parallel()
	a := actor.Actor{Finalizer: "example.com/f", Who: "Op", Life: actor.Alive, IsKnown: true,
		Known: finalizer.Known{Retired: "Op 2"}}
	all, _ := (&Examiner{}).ignored(t.Context(), core.Responsible{Actor: a, Name: "Op"}, core.Finding{})
	if len(all) != 1 || all[0].Code != core.ActorNotWatching || !strings.Contains(all[0].Sentence, "since Op 2") ||
		strings.Contains(all[0].Remedy, "let it finish") {
		t.Errorf("%+v", all)
	}
}

// TestWhichBindingWouldDo: one in the namespace of the object for an actor that has its rights by
// namespace, and where nothing can be created in it, or it has none elsewhere, one for all.
func TestWhichBindingWouldDo(t *testing.T) {
	t.Parallel()
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "shop"}}}
	for name, test := range map[string]struct {
		placed []actor.Placed
		closed bool
		want   string
	}{
		"by namespace":          {[]actor.Placed{{Namespace: "a"}}, false, "kubectl create rolebinding op-orders --clusterrole=orders --serviceaccount=infra:op -n shop"},
		"in one that is closed": {[]actor.Placed{{Namespace: "a"}}, true, "kubectl create clusterrolebinding op-orders --clusterrole=orders --serviceaccount=infra:op"},
		"nowhere":               {nil, false, "kubectl create clusterrolebinding op-orders --clusterrole=orders --serviceaccount=infra:op"},
	} {
		of := actor.Forbidden{Role: "orders", Account: cluster.ServiceAccount{Namespace: "infra", Name: "op"}, Placed: test.placed}
		if got := strings.Join(binding(of, o, test.closed), " "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
