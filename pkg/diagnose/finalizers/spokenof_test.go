package finalizers

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestKindsThatATextSpeaksOf: a kind is spoken of in one word or in several, be it of one or of many.
func TestKindsThatATextSpeaksOf(t *testing.T) {
	t.Parallel()
	kind := func(kind, plural string) cluster.Resource {
		return cluster.Resource{Type: graph.Type{Group: "example.com", Kind: kind, Resource: plural}}
	}
	for _, test := range []struct {
		text string
		of   cluster.Resource
		want bool
	}{
		{"KeystoneAPI not yet ready", kind("KeystoneAPI", "keystoneapis"), true},
		{"keystone API not yet ready", kind("KeystoneAPI", "keystoneapis"), true},
		{"All service instances and bindings must be removed", kind("ServiceInstance", "serviceinstances"), true},
		{"All service instances and bindings must be removed", kind("ServiceBinding", "servicebindings"), false},
		{"2 network policies still exist", kind("NetworkPolicy", "networkpolicies"), true},
		{"dbclusters still exist", kind("DBCluster", "dbclusters"), true},
		{"The instance of a service must be removed", kind("ServiceInstance", "serviceinstances"), false},
		{"KeystoneAPIs not yet ready", kind("Keystone", "keystones"), false},
	} {
		parts := kindWords.FindAllString(test.of.Kind, -1)
		if got := speaksOf(strings.Fields(test.text), parts, test.of); (got != nil) != test.want {
			t.Errorf("%q speaks of %s (%q): %q", test.text, test.of.Kind, parts, got)
		}
	}
}

// TestWhatIsAwaited: a text says that something is to become ready, or that it has to go; that
// something is missing is neither.
func TestWhatIsAwaited(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"waiting for clusters c1 to become ready":                  "ready",
		"KeystoneAPI not yet ready":                                "ready",
		"Waiting for the broker to be available":                   "ready",
		"All service instances must be removed: 1 instance(s)":     "gone",
		"BackupPolicy daily still references the store":            "gone",
		"waiting for KafkaTopics to be deleted":                    "gone",
		"The disk is protected from deletion":                      "gone",
		"cannot delete: used by RayJob train":                      "gone",
		"There are APIRules that block the deletion of APIGateway": "gone",
		"a webhook which blocks its deletion":                      "gone",
		"APIRules do not block the deletion":                       "",
		"APIRules that block the traffic":                          "",
		"Deletion policy that is called block-deletion":            "",
		"Waiting for KeystoneAPI that is ready: not found":         "",
		"the service instance could not be read: connection reset": "",
		"Reconciled the DBCluster":                                 "",
	} {
		got := ""
		switch {
		case notThere.MatchString(text):
		case notReady.MatchString(text):
			got = "ready"
		case goesFirst.MatchString(text):
			got = "gone"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNamesBehindAKind: a text that names one object of a kind is not about all of them.
func TestNamesBehindAKind(t *testing.T) {
	t.Parallel()
	r := cluster.Resource{Type: graph.Type{Group: "example.com", Kind: "ServiceInstance", Resource: "serviceinstances"}}
	for text, want := range map[string]bool{
		"ServiceInstance db must be deleted":         true,
		"ServiceInstance team-b/db must be deleted":  true,
		"service instances must be removed":          false,
		"waiting for ServiceInstance":                false,
		"ServiceInstance / ServiceBinding not ready": false,
	} {
		behind := speaksOf(strings.Fields(text), kindWords.FindAllString(r.Kind, -1), r)
		if got := beginsWithName(behind); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestFewAreAskedForOfWhichTextsSpeak: however many kinds the texts of an object have, a few are looked
// at, and none that has many objects.
func TestFewAreAskedForOfWhichTextsSpeak(t *testing.T) {
	t.Parallel()
	b, catalog, asked := graph.NewBuilder(), &cluster.Catalog{}, map[graph.Type]bool{}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Site"}}
	o.SetNamespace("n")
	for i := range 2 * mostSpoken {
		kind := graph.Type{Group: "example.com", Version: "v1", Kind: fmt.Sprintf("PartOf%d", i), Resource: fmt.Sprintf("parts%d", i), Namespaced: true}
		catalog.Resources = append(catalog.Resources, cluster.Resource{Type: kind})
		l := b.Listing(kind, "n")
		for j := range longestNaming + 1 {
			l.Add(graph.Object{Namespace: "n", Name: fmt.Sprint("p-", j), UID: fmt.Sprint(i, "-", j)})
		}
	}
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: catalog, Graph: b.Build()}, Reader: cluster.NewReader(nil, catalog)}, nil)
	for i := range 2 * mostSpoken {
		if all := e.needs.meantBy(t.Context(), fmt.Sprintf("PartOf%d still exists", i), o, asked); len(all) > 0 {
			t.Errorf("%d of kind %d", len(all), i)
		}
	}
	if len(asked) != mostSpoken {
		t.Errorf("%d types were asked for", len(asked))
	}
}
