package diagnose

import (
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestHookIsCalled: which webhooks the server calls for an update of a labelled object, of a namespace, and of a cluster-scoped object.
func TestHookIsCalled(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	client, catalog := fixture.Connect(t, c.Config())
	e := newExaminer(client, Snapshot{Catalog: catalog, Graph: graph.NewBuilder().Build()}, Options{Known: fixture.Packs(t)})
	deploymentType := graph.Type{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
	namespaceType := graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	nodeType := graph.Type{Version: "v1", Resource: "nodes", Kind: "Node"}
	hookType := graph.Type{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"}
	rule := "operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*']"
	for _, test := range []struct {
		of     graph.Type
		hook   string
		called bool
	}{
		{deploymentType, "rules: [{" + rule + "}]", true},
		{deploymentType, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]", true},
		{deploymentType, "rules: [{operations: [CREATE, DELETE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]", false},
		{deploymentType, "rules: [{operations: [UPDATE], apiGroups: [extensions], apiVersions: [v1], resources: [deployments]}]", false},
		{deploymentType, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1beta1], resources: [deployments]}]", true}, // an equivalent
		{deploymentType, "matchPolicy: Exact, rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1beta1], resources: [deployments]}]", false},
		{deploymentType, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: [replicasets]}]", false},
		{deploymentType, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments/status, deployments/scale]}]", false},
		{deploymentType, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: ['*/*']}]", true},
		{deploymentType, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: ['deployments/*']}]", true},
		{deploymentType, "rules: [{scope: Namespaced, " + rule + "}]", true},
		{deploymentType, "rules: [{scope: Cluster, " + rule + "}]", false},
		{deploymentType, "objectSelector: {matchLabels: {app: a}}, rules: [{" + rule + "}]", true},
		{deploymentType, "objectSelector: {matchLabels: {app: b}}, rules: [{" + rule + "}]", false},
		{deploymentType, "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: " + ns + "}}, rules: [{" + rule + "}]", true},
		{deploymentType, "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: another}}, rules: [{" + rule + "}]", false},
		{deploymentType, "namespaceSelector: {matchLabels: {app: a}}, rules: [{" + rule + "}]", false},
		{namespaceType, "namespaceSelector: {matchLabels: {app: a}}, rules: [{" + rule + "}]", true}, // its own labels
		{namespaceType, "namespaceSelector: {matchLabels: {app: b}}, rules: [{" + rule + "}]", false},
		{nodeType, "namespaceSelector: {matchLabels: {app: b}}, rules: [{" + rule + "}]", true}, // it is in none
		{nodeType, "rules: [{scope: Namespaced, " + rule + "}]", false},
		{hookType, "rules: [{" + rule + "}]", false}, // exempt
	} {
		var h hook
		if err := yaml.Unmarshal(fmt.Appendf(nil, "{%s}", test.hook), &h.ValidatingWebhook); err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetLabels(map[string]string{"app": "a"})
		if test.of.Namespaced {
			o.SetNamespace(ns)
		}
		if got := e.calls(t.Context(), h, write{operation: admissionv1.Update, t: test.of, o: o}); got != test.called {
			t.Errorf("%s, for %s: %t, want %t", test.hook, test.of.Resource, got, test.called)
		}
	}
}
