package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestWhoIsToBeLookedAtFirst: the only workload that may write an object, or who is called like the
// finalizer. That a workload is the only one that may write a Namespace is too little to start it:
// it may do what nobody wants.
func TestWhoIsToBeLookedAtFirst(t *testing.T) {
	t.Parallel()
	workload := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": name, "namespace": "operators"}}}
	}
	for name, test := range map[string]struct {
		apiVersion, kind, finalizer string
		may                         []string
		namesake, want              string
		unlikely                    bool
	}{
		"the only one of a custom resource":          {"shop.example.dev/v1", "Order", "acme.dev/cleanup", []string{"orders"}, "", "orders", false},
		"another program that may write namespaces":  {"v1", "Namespace", "controller.cattle.io/auth", []string{"remove-empty-ns"}, "", "remove-empty-ns", true},
		"one that is called like the finalizer":      {"v1", "Namespace", "capsule.clastix.io/tenant", []string{"capsule-manager"}, "", "capsule-manager", false},
		"several of a custom resource":               {"shop.example.dev/v1", "Order", "acme.dev/cleanup", []string{"a", "b"}, "", "", false},
		"one of several is called like it":           {"shop.example.dev/v1", "Order", "acme.dev/cleanup", []string{"acme", "b"}, "", "acme", false},
		"nobody, but one is called like it":          {"shop.example.dev/v1", "Order", "acme.dev/cleanup", nil, "acme-operator", "acme-operator", false},
		"others may, and one is called like it":      {"v1", "Namespace", "acme.dev/cleanup", []string{"b", "c"}, "acme-operator", "", false},
		"a pool that the name of the object ends in": {"shop.example.dev/v1", "Order", "acme.dev/cleanup", []string{"x8sm", "uyp2"}, "", "x8sm", false},
		"nobody at all":                              {"shop.example.dev/v1", "Order", "acme.dev/cleanup", nil, "", "", false},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": test.apiVersion, "kind": test.kind,
			"metadata": map[string]any{"name": "pvc-1-x8sm"}}}
		a := actor.Actor{Finalizer: test.finalizer}
		if test.namesake != "" {
			a.Namesake = workload(test.namesake)
		}
		var leads actor.Permissions
		for _, w := range test.may {
			leads.Accounts = append(leads.Accounts, actor.Permitted{Workloads: []*unstructured.Unstructured{workload(w)}})
		}
		b := core.ResponsibleFor(o, a)
		got, unlikely := "", false
		if first, _ := lead(b, leads); first != nil {
			got, unlikely = first.GetName(), !likely(b, first)
		}
		if got != test.want || unlikely != test.unlikely {
			t.Errorf("%s: %q, unlikely %t, want %q, %t", name, got, unlikely, test.want, test.unlikely)
		}
	}
}
