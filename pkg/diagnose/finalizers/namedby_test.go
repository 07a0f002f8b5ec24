package finalizers

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhichFieldNamesAnObject: Subnet blue in ns, or TemporalCluster blue, is named where the key is
// that of its kind, or of the end of it, and the namespace is its own.
func TestWhichFieldNamesAnObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kind, by, want string }{
		{"Subnet", `{spec: {subnet: blue}}`, "spec.subnet"},
		{"Subnet", `{spec: {subnetName: blue, subnetNamespace: ns}}`, "spec.subnetName"},
		{"Subnet", `{spec: {nets: {subnets: [red, blue]}}}`, "spec.nets.subnets[1]"},
		{"Subnet", `{spec: {subnetRefs: [{name: red}, {name: blue}]}}`, "spec.subnetRefs[1].name"},
		{"Subnet", `{spec: {parent: {kind: Subnet, name: blue}}}`, "spec.parent.name"},
		{"TemporalCluster", `{spec: {clusterRef: {name: blue}}}`, "spec.clusterRef.name"},
		{"TemporalCluster", `{metadata: {labels: {temporal.io/cluster-name: blue}}}`, "metadata.labels[temporal.io/cluster-name]"},
		{"Subnet", `{metadata: {labels: {subnets.net.temporal.io: blue}}}`, "metadata.labels[subnets.net.temporal.io]"},
		{"Subnet", `{metadata: {labels: {subnets.other.io: blue, pools.net.temporal.io: blue, net.temporal.io: blue}}}`, ""},
		{"Instance", `{metadata: {labels: {app.kubernetes.io/instance: blue, instance: blue}}}`, ""},
		{"Subnet", `{spec: {source: {apiVersion: other.org/v1, kind: Subnet, name: blue}}}`, ""},
		{"Subnet", `{spec: {targetRef: {apiVersion: net.temporal.io/v1, kind: Subnet, name: blue}}}`, "spec.targetRef.name"},
		{"Address", `{spec: {addressReference: blue}}`, "spec.addressReference"},
		{"WorkspaceClass", `{spec: {defaultClass: {name: blue}}}`, "spec.defaultClass.name"},
		{"Subnet", `{apiVersion: policy.org/v1, spec: {targetRefs: [{group: net.temporal.io, kind: Subnet, name: blue}]}}`, "spec.targetRefs[0].name"},
		{"Subnet", `{apiVersion: policy.org/v1, spec: {targetRef: {kind: Subnet, name: blue}}}`, ""},
		{"Subnet", `{apiVersion: policy.org/v1, spec: {sourceRef: {group: net.temporal.io, kind: Subnet, name: blue}}}`, ""},
		{"Subnet", `{apiVersion: policy.org/v1, spec: {subnet: blue}}`, ""},
		{"Subnet", `{apiVersion: gateway.org/v1, spec: {parametersRef: {group: net.temporal.io, kind: Subnet, name: blue, namespace: ns}}}`,
			"spec.parametersRef.name"},
		{"Subnet", `{apiVersion: gateway.org/v1, spec: {infrastructure: {parametersRef: {group: net.temporal.io, kind: Subnet, name: blue}}}}`,
			"spec.infrastructure.parametersRef.name"},
		{"Subnet", `{apiVersion: gateway.org/v1, spec: {parametersRef: {group: other.org, kind: Subnet, name: blue}}}`, ""},
		{"Subnet", `{apiVersion: v1, kind: PersistentVolume, metadata: {labels: {a.org/owner-kind: Subnet, a.org/owner-name: blue, a.org/owner-namespace: ns}}}`,
			"metadata.labels[a.org/owner-name]"},
		{"Subnet", `{apiVersion: v1, metadata: {labels: {a.org/owner-kind: Subnet, a.org/owner-name: blue, a.org/owner-namespace: other}}}`, ""},
		{"Subnet", `{apiVersion: v1, metadata: {labels: {a.org/owner-kind: Pool, a.org/owner-name: blue}}}`, ""},
		{"Subnet", `{apiVersion: v1, metadata: {labels: {b.org/owner-kind: Subnet, a.org/owner-name: blue}}}`, ""},
		{"Subnet", `{apiVersion: v1, metadata: {labels: {a.org/owner-kind: Subnet, a.org/owner-name: red}}}`, ""},
		{"Gateway", `{spec: {parentRefs: [{name: blue}]}}`, ""}, // of another group than that of the Gateway API
		{"Subnet", `{metadata: {namespace: other}, spec: {subnet: blue}}`, ""},
		{"Subnet", `{metadata: {namespace: other}, spec: {subnetRef: {name: blue, namespace: ns}}}`, "spec.subnetRef.name"},
		{"Subnet", `{metadata: {namespace: other, labels: {subnet: blue}}}`, ""},
		{"Subnet", `{spec: {subnet: red, name: blue, color: blue, nets: [blue], net: blue}}`, ""},
		{"Subnet", `{spec: {subnetRef: {kind: Pool, name: blue}, ref: {name: blue}}, status: {subnet: blue}}`, ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "net.temporal.io/v1", "kind": test.kind}}
		o.SetName("blue")
		o.SetNamespace("ns")
		by := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(test.by), &by.Object); err != nil {
			t.Fatal(err)
		}
		if by.GetAPIVersion() == "" {
			by.SetAPIVersion(o.GetAPIVersion())
		}
		if by.GetNamespace() == "" {
			by.SetNamespace("ns")
		}
		if got := naming(by, o); got != test.want {
			t.Errorf("%s of %s is named in %q, want %q", test.kind, test.by, got, test.want)
		}
	}
}

// TestTheParentOfARoute: it is a Gateway where the route says no kind.
func TestTheParentOfARoute(t *testing.T) {
	t.Parallel()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway"}}
	o.SetName("blue")
	o.SetNamespace("ns")
	for text, want := range map[string]string{
		"{metadata: {namespace: ns}, spec: {parentRefs: [{name: red}, {name: blue, sectionName: http}]}}":       "spec.parentRefs[1].name",
		"{metadata: {namespace: app}, spec: {parentRefs: [{name: blue, namespace: ns}]}}":                       "spec.parentRefs[0].name",
		"{metadata: {namespace: ns}, spec: {parentRefs: [{kind: Gateway, name: blue}]}}":                        "spec.parentRefs[0].name",
		"{metadata: {namespace: app}, spec: {parentRefs: [{name: blue}]}}":                                      "",
		"{metadata: {namespace: ns}, spec: {parentRefs: [{kind: Service, name: blue}]}}":                        "",
		"{metadata: {namespace: ns}, spec: {parentRefs: [{group: \"\", kind: Service, name: blue}]}}":           "",
		"{metadata: {namespace: ns}, spec: {rules: [{backendRefs: [{name: blue}]}]}}":                           "",
		"{metadata: {namespace: ns}, status: {parents: [{parentRef: {name: blue}}]}, spec: {parentRefs: [{}]}}": "",
	} {
		by := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &by.Object); err != nil {
			t.Fatal(err)
		}
		by.SetAPIVersion("gateway.networking.k8s.io/v1")
		by.SetKind("HTTPRoute")
		if got := naming(by, o); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestWhatNamesABuiltInObject: what is asked for the sake of a finalizer names a claim by what a key
// says that it is.
func TestWhatNamesABuiltInObject(t *testing.T) {
	t.Parallel()
	claim := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim"}}
	claim.SetName("blue")
	for text, want := range map[string]string{
		"{spec: {source: {persistentVolumeClaimName: blue}}}": "spec.source.persistentVolumeClaimName",
		"{spec: {claimRef: {name: blue}}}":                    "spec.claimRef.name",
		"{spec: {secretName: blue}}":                          "",
		"{spec: {source: {kind: Secret, name: blue}}}":        "",
	} {
		by := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &by.Object); err != nil {
			t.Fatal(err)
		}
		by.SetAPIVersion("copy.example.dev/v1")
		if got := naming(by, claim); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestWhichTypesMayKeepAnObject: those of its own group first, then policies of others in
// namespaces, and classes and Gateways, and no others of Kubernetes.
func TestWhichTypesMayKeepAnObject(t *testing.T) {
	t.Parallel()
	for of, want := range map[graph.Type]int{
		{Group: "net.org", Resource: "subnets"}:                                      0,
		{Group: "other.org", Resource: "xaccesspolicies", Namespaced: true}:          1,
		{Group: "other.org", Resource: "clusterpolicies"}:                            2,
		{Group: "other.org", Resource: "subnets", Namespaced: true}:                  2,
		{Group: "networking.k8s.io", Resource: "networkpolicies", Namespaced: true}:  2,
		{Group: "gateway.networking.k8s.io", Resource: "gatewayclasses"}:             1,
		{Group: "gateway.networking.k8s.io", Resource: "gateways", Namespaced: true}: 1,
		{Group: "networking.k8s.io", Resource: "ingressclasses"}:                     1,
	} {
		if got := distance(of, "net.org"); got != want {
			t.Errorf("%s.%s: %d, want %d", of.Resource, of.Group, got, want)
		}
	}
}

// TestWhichDependentsGoAfterTheirOwner: those without another owner, of an object that is deleted in
// the background. Otherwise the collector deletes them before it, or not at all (GC-053, GC-060, GC-067).
func TestWhichDependentsGoAfterTheirOwner(t *testing.T) {
	t.Parallel()
	of := func(names ...string) (all []graph.OwnerReference) {
		for _, name := range names {
			all = append(all, graph.OwnerReference{APIVersion: "example.com/v1", Kind: "Database", Name: name, UID: name})
		}
		return all
	}
	b := graph.NewBuilder()
	l := b.Listing(graph.Type{Group: "example.com", Version: "v1", Resource: "databases", Kind: "Database", Namespaced: true}, "n")
	l.Add(graph.Object{Namespace: "n", Name: "db", UID: "db"}, graph.Object{Namespace: "n", Name: "other", UID: "other"})
	l.Add(graph.Object{Namespace: "n", Name: "one", UID: "one", Owners: of("db")},
		graph.Object{Namespace: "n", Name: "two", UID: "two", Owners: of("db", "other")})
	e := New(&core.Examination{Snapshot: core.Snapshot{Graph: b.Build()}}, nil)
	for _, test := range []struct {
		dependent, finalizer string
		want                 bool
	}{
		{"one", "example.com/database", true}, {"two", "example.com/database", false},
		{"one", metav1.FinalizerDeleteDependents, false}, {"one", metav1.FinalizerOrphanDependents, false},
	} {
		o := &unstructured.Unstructured{}
		o.SetUID("db")
		o.SetFinalizers([]string{test.finalizer})
		id, listed := e.Graph.Lookup(test.dependent)
		if got := e.deletedAfter(id, o); !listed || got != test.want {
			t.Errorf("%s of an object with %s: %v, want %v", test.dependent, test.finalizer, got, test.want)
		}
	}
}

// TestWhatKeepsAnObjectIsNamedOnce: a dependent that the object also says that somebody waits for.
func TestWhatKeepsAnObjectIsNamedOnce(t *testing.T) {
	t.Parallel()
	machine := func(name string) v1alpha1.ObjectRef { return v1alpha1.ObjectRef{Kind: "Machine", Name: name} }
	told, owned := namer{ref: machine("a"), told: true, deleting: true}, namer{ref: machine("a"), field: ownersField, deleting: true}
	other := namer{ref: machine("b"), field: ownersField, deleting: true}
	if got := once([]namer{told, owned, other}); !slices.Equal(got, []namer{told, other}) {
		t.Errorf("%v", got)
	}
}
