package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestWhoMayElsewhereOnly: of a custom resource that nobody may write in its namespace, the one workload
// that may in another.
func TestWhoMayElsewhereOnly(t *testing.T) {
	t.Parallel()
	workload := func(name string) *unstructured.Unstructured {
		w := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
		w.SetName(name)
		w.SetUID(types.UID(name))
		return w
	}
	for name, test := range map[string]struct {
		apiVersion string
		placed     []string
		unread     []string
		want       string
	}{
		"one":                       {"cache.example.dev/v1", []string{"op"}, nil, "op"},
		"the same in two places":    {"cache.example.dev/v1", []string{"op", "op"}, nil, "op"},
		"two":                       {"cache.example.dev/v1", []string{"op", "backup"}, nil, ""},
		"others may be unread":      {"cache.example.dev/v1", []string{"op"}, []string{"you may not list roles"}, ""},
		"of an object of anybody's": {"v1", []string{"op"}, nil, ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": test.apiVersion, "kind": "Cache"}}
		leads := actor.Permissions{Unread: test.unread}
		for _, w := range test.placed {
			leads.Placed = append(leads.Placed, actor.Placed{Namespace: "other",
				Permitted: actor.Permitted{Workloads: []*unstructured.Unstructured{workload(w)}}})
		}
		got := ""
		if first, _ := lead(core.ResponsibleFor(o, actor.Actor{Finalizer: "example.dev/x"}), leads); first != nil {
			got = first.GetName()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

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

// TestThatNobodyWatches: it is said of all workloads that may write an object only if each is set
// to watch others, and of the one that is the lead if that is.
func TestThatNobodyWatches(t *testing.T) {
	t.Parallel()
	workload := func(name, value string) *unstructured.Unstructured {
		c := map[string]any{"image": "acme/" + name}
		if value != "" {
			c["env"] = []any{map[string]any{"name": "WATCH_NAMESPACE", "value": value}}
		}
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": name, "namespace": "operators"}, "status": map[string]any{"readyReplicas": int64(1)},
			"spec": map[string]any{"replicas": int64(1), "template": map[string]any{"spec": map[string]any{"containers": []any{c}}}}}}
	}
	op, backup, other := workload("op", "a"), workload("backup", ""), workload("other", "b")
	for name, test := range map[string]struct {
		first *unstructured.Unstructured
		may   []*unstructured.Unstructured
		want  bool
	}{
		"each is set to watch others": {nil, []*unstructured.Unstructured{op, other}, true},
		"one is not":                  {nil, []*unstructured.Unstructured{op, backup}, false},
		"the lead is":                 {op, []*unstructured.Unstructured{op, backup}, true},
		"the lead is not":             {backup, []*unstructured.Unstructured{op, backup}, false},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "shop"}}}
		leads := actor.Permissions{Accounts: []actor.Permitted{{Workloads: test.may}}}
		s, who := unwatched(core.ResponsibleFor(o, actor.Actor{Finalizer: "acme.dev/x"}), test.first, leads)
		if (who != "") != test.want || (s.Workload != nil) != test.want {
			t.Errorf("%s: %q, %v", name, who, s)
		}
	}
}
