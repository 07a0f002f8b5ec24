package finalizers

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
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
		l.Complete()
	}
	partly := b.Listing(database, "partly")
	partly.Add(graph.Object{Namespace: "partly", Name: "db", UID: "partly-db", DeletionTimestamp: deleted})
	partly.Add(graph.Object{Namespace: "partly", Name: "new", UID: "partly-new", Finalizers: []string{"hold.new.example.com"}})
	b.Listing(user, "n").Add(graph.Object{Namespace: "n", Name: "ann", UID: "ann", DeletionTimestamp: deleted})
	b.Listing(user, "m").Add(graph.Object{Namespace: "m", Name: "bob", UID: "bob"})
	b.Listing(secret, "n").Add(graph.Object{Namespace: "n", Name: "tls", UID: "tls"})
	e := New(&core.Examination{Snapshot: core.Snapshot{Graph: b.Build()}}, nil)
	for _, test := range []struct{ namespace, finalizer, want string }{
		{"n", "user.ann", "it ends in the name of User n/ann, which is being deleted too"},
		{"n", "example.com/user-ann", "User n/ann"},
		{"n", "user.bob", ""},          // who is in another namespace
		{"n", "example.org/joann", ""}, // part of a word
		{"n", "ann", ""},
		{"n", "example.org/tls", ""}, // of another group
		{"n", "keep.example.com", "no other Database has it, and 1 other has hold.new.example.com"},
		{"m", "keep.example.com", ""},      // where no other object is
		{"partly", "keep.example.com", ""}, // where others were not listed
		{"n", "hold.new.example.com", ""},
		{"n", "example.org/keep", ""}, // of another domain
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Database"}}
		o.SetNamespace(test.namespace)
		o.SetName("db")
		o.SetUID(types.UID(test.namespace + "-db"))
		got := ""
		namesake, _ := e.namesake(o, test.finalizer)
		for _, seen := range append(e.renamed(t.Context(), o, actor.Actor{Finalizer: test.finalizer}), namesake...) {
			got += seen.Says
		}
		if !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s in %s: %q, want %q", test.finalizer, test.namespace, got, test.want)
		}
	}
}

// TestAWorkloadIsNamedOnce: one that is called like the finalizer, and may remove it.
func TestAWorkloadIsNamedOnce(t *testing.T) {
	t.Parallel()
	seen := []v1alpha1.Observation{{Says: "field manager \"x\" wrote it"},
		{Says: actor.ByItsName + "Deployment ops/shop-operator has 1 of 1 pod ready"},
		{Says: actor.ByItsName + "Deployment other/shop-operator has 1 of 1 pod ready"}}
	leads := []v1alpha1.Observation{{Says: "ServiceAccount ops/shop may update shops; Deployment ops/shop-operator uses it, 1 of 1 ready"}}
	var got []string
	for _, o := range withLeads(seen, leads) {
		got = append(got, o.Says)
	}
	want := []string{seen[0].Says, seen[2].Says, leads[0].Says + "; by its name the finalizer may be its own"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCalledAfter: what a finalizer has behind a kind is a name, unless it says what it is for or
// is the group of the kind.
func TestCalledAfter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ finalizer, kind, group, want string }{
		{"dbuser.dbuser-readwrite", "DbUser", "kinda.rocks", "dbuser-readwrite"},
		{"dbinstance/shared", "DbInstance", "kinda.rocks", "shared"},
		{"node/worker-1.internal", "Node", "example.com", "worker-1.internal"},
		{"cluster.x-k8s.io", "Cluster", "cluster.x-k8s.io", ""},
		{"bucket.storage.example.com", "Bucket", "example.com", ""},
		{"bucket/cleanup", "Bucket", "example.com", ""},
		{"cluster/teardown", "Cluster", "example.com", ""},
		{"volume.detach", "Volume", "example.com", ""},
		{"bucket.finalizer", "Bucket", "example.com", ""},
		{"cluster.kubeblocks.io/finalizer", "Cluster", "apps.kubeblocks.io", ""},
		{"user-registration", "User", "example.com", ""},
		{"users.bob", "User", "example.com", ""},
		{"other.bob", "User", "example.com", ""},
		{"user.", "User", "example.com", ""},
	} {
		name, called := calledAfter(test.finalizer, test.kind, test.group)
		if called != (test.want != "") || called && name != test.want {
			t.Errorf("%s: %q, %t, want %q", test.finalizer, name, called, test.want)
		}
	}
}

// TestOfManyNoTwinIsAskedFor: each would be a request, and there is no server here.
func TestOfManyNoTwinIsAskedFor(t *testing.T) {
	t.Parallel()
	user := graph.Type{Group: "example.com", Version: "v1", Resource: "users", Kind: "User", Namespaced: true}
	e := New(&core.Examination{Many: true,
		Snapshot: core.Snapshot{Catalog: &cluster.Catalog{Resources: []cluster.Resource{{Type: user}}}}}, nil)
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Database"}}
	o.SetNamespace("n")
	for _, name := range []string{"user.ann", "other.example.com/keep"} {
		b := core.ResponsibleFor(o, actor.Actor{Finalizer: name})
		for _, n := range []need{e.needs.namesakeGone(t.Context(), b), e.needs.twin(t.Context(), b)} {
			if len(n.seen) > 0 || n.what != "" {
				t.Errorf("%s: %+v", name, n)
			}
		}
	}
}

// TestWhatADriverMadeForAVolume: by the name of it, and the finalizer of a driver that no pack knows.
func TestWhatADriverMadeForAVolume(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		version, name, finalizer string
		known, want              bool
	}{
		{"a.io/v1", "pvc-3f2b6a10-0c4e-4d8f-9a51-7f0e3c1b2d44", "a.io/sds-local-volume-csi", false, true},
		{"a.io/v1", "pvc-3f2b6a10-0c4e-4d8f-9a51-7f0e3c1b2d44", "csi.a.io/volume", false, true},
		{"a.io/v1", "pvc-3f2b6a10-0c4e-4d8f-9a51-7f0e3c1b2d44", "a.io/csi", true, false}, // the pack says what it waits for
		{"a.io/v1", "pvc-3f2b6a10-0c4e-4d8f-9a51-7f0e3c1b2d44", "a.io/node-configurator", false, false},
		{"a.io/v1", "pvc-3f2b6a10-0c4e-4d8f-9a51-7f0e3c1b2d44", "a.io/basics", false, false},
		{"a.io/v1", "pvc-of-mine", "a.io/csi", false, false},
		{"a.io/v1", "data-pvc-3f2b6a10-0c4e", "a.io/csi", false, false},
		{"v1", "pvc-3f2b6a10-0c4e-4d8f-9a51-7f0e3c1b2d44", "a.io/csi", false, false}, // a claim or a volume itself
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": test.version, "kind": "LogicalVolume"}}
		o.SetName(test.name)
		if got := isOfVolume(o, core.ResponsibleFor(o, actor.Actor{Finalizer: test.finalizer, IsKnown: test.known})); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

// TestWhatAFinalizerIsCalledAfterWithin: the name behind the domain and a kind of several words.
func TestWhatAFinalizerIsCalledAfterWithin(t *testing.T) {
	t.Parallel()
	r := cluster.Resource{Type: graph.Type{Group: "metacontroller.k8s.io", Kind: "DecoratorController", Resource: "decoratorcontrollers"}}
	for finalizer, want := range map[string]string{
		"metacontroller.io/decoratorcontroller-call-removal-api": "call-removal-api",
		"metacontroller.app/decoratorcontroller-lb":              "lb",
		"metacontroller.io/compositecontroller-lb":               "", // another kind
		"example.com/decoratorcontroller-lb":                     "", // of somebody else
		"metacontroller.io/decoratorcontroller-cleanup":          "", // a purpose
		"metacontroller.io/decoratorcontroller-bound-protection": "",
		"metacontroller.io/decoratorcontroller-lb-in-use":        "",
		"metacontroller.io/decoratorcontroller":                  "",
		"decoratorcontroller-lb":                                 "",
	} {
		if got, called := calledWithin(finalizer, r); called != (want != "") || called && got != want {
			t.Errorf("%s: %q %t, want %q", finalizer, got, called, want)
		}
	}
	r.Kind, r.Group = "Installation", "operator.tigera.io"
	if name, called := calledWithin("operator.tigera.io/installation-x", r); called {
		t.Errorf("a kind of one word tells too little: %q", name)
	}
}

// TestATwinThatIsThereIsNotLacked: only one that does not exist can be what somebody waits for.
func TestATwinThatIsThereIsNotLacked(t *testing.T) {
	t.Parallel()
	alive, deleting := &unstructured.Unstructured{Object: map[string]any{}}, &unstructured.Unstructured{Object: map[string]any{}}
	now := metav1.Now()
	deleting.SetDeletionTimestamp(&now)
	for _, twin := range []*unstructured.Unstructured{nil, alive, deleting} {
		if n := lacksTwin("example.org", "User ann of example.org", twin); len(n.seen) != 1 || (n.what != "") != (twin == nil) {
			t.Errorf("%v: %+v", twin, n)
		}
	}
}
