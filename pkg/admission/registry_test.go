package admission_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

var (
	deployments = graph.Type{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
	namespaces  = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	nodes       = graph.Type{Version: "v1", Resource: "nodes", Kind: "Node"}
	hooks       = graph.Type{Group: admission.Group, Version: "v1", Resource: "validatingwebhookconfigurations",
		Kind: "ValidatingWebhookConfiguration"}
)

// source has one namespace, and others that cannot be read.
func source(t *testing.T, lists map[string][]*unstructured.Unstructured) admission.Source {
	return admission.Source{
		List: func(_ context.Context, of schema.GroupResource) ([]*unstructured.Unstructured, error) {
			return lists[of.Resource], nil
		},
		Namespace: func(_ context.Context, name string) (*unstructured.Unstructured, error) {
			if name != "shop" {
				return nil, errors.New("forbidden")
			}
			return object(t, "{metadata: {name: shop, labels: {kubernetes.io/metadata.name: shop}}}"), nil
		},
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestWhatWasReadWhileTheContextEndedIsReadAgain: an interrupted examination is no server without
// webhooks.
func TestWhatWasReadWhileTheContextEndedIsReadAgain(t *testing.T) {
	t.Parallel()
	const rule = "{operations: [DELETE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}"
	lists := map[string][]*unstructured.Unstructured{
		"validatingwebhookconfigurations": {object(t,
			"{kind: ValidatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: a}]}")},
		"validatingadmissionpolicies": {object(t,
			"{metadata: {name: keep}, spec: {matchConstraints: {resourceRules: ["+rule+"]}}}")},
		"validatingadmissionpolicybindings": {object(t, "{metadata: {name: b}, spec: {policyName: keep}}")},
	}
	from := source(t, nil)
	from.List = func(ctx context.Context, of schema.GroupResource) ([]*unstructured.Unstructured, error) {
		return lists[of.Resource], ctx.Err()
	}
	r := admission.NewRegistry(from)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w := admission.Of(admissionv1.Delete, deployments, "shop", "a")
	if hooks, unread := r.Webhooks(ended); len(hooks) != 0 || len(unread) == 0 {
		t.Errorf("%v, %v", hooks, unread)
	}
	if policies, unread := r.Policies(ended, admission.ValidatingPolicies, w); len(policies) != 0 || len(unread) == 0 {
		t.Errorf("%v, %v", policies, unread)
	}
	if hooks, unread := r.Webhooks(t.Context()); len(hooks) != 1 || len(unread) != 0 {
		t.Errorf("webhooks %v, unread %v", hooks, unread)
	}
	if policies, unread := r.Policies(t.Context(), admission.ValidatingPolicies, w); len(policies) != 1 ||
		len(unread) != 0 {
		t.Errorf("policies %v, unread %v", policies, unread)
	}
}

// TestWhichWebhooksAreCalled: which webhooks the server calls for an update of a labelled object,
// of a namespace, and of a cluster-scoped object. Plans once read these rules on their own: they
// overlooked deployments/* and namespaceSelector, and ignored scope, version and matchPolicy.
func TestWhichWebhooksAreCalled(t *testing.T) {
	t.Parallel()
	rule := "operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*']"
	for _, test := range []struct {
		of   graph.Type
		hook string
		// whole is the answer about the whole object, and outline that about its name.
		whole, outline admission.Match
	}{
		{deployments, "rules: [{" + rule + "}]", admission.Always, admission.Always},
		{deployments, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]",
			admission.Always, admission.Always},
		{deployments, "rules: [{operations: [CREATE, DELETE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]", admission.Never, admission.Never},
		{deployments, "rules: [{operations: [UPDATE], apiGroups: [extensions], apiVersions: [v1], resources: [deployments]}]",
			admission.Never, admission.Never},
		// an equivalent
		{deployments, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1beta1], resources: [deployments]}]",
			admission.Always, admission.Always},
		{deployments, "matchPolicy: Exact, rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1beta1], resources: [deployments]}]", admission.Never, admission.Never},
		{deployments, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: [replicasets]}]",
			admission.Never, admission.Never},
		{deployments, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments/status, deployments/scale]}]", admission.Never, admission.Never},
		{deployments, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: ['*/*']}]",
			admission.Always, admission.Always},
		{deployments, "rules: [{operations: [UPDATE], apiGroups: [apps], apiVersions: [v1], resources: ['deployments/*']}]",
			admission.Always, admission.Always},
		{deployments, "rules: [{scope: Namespaced, " + rule + "}]", admission.Always, admission.Always},
		{deployments, "rules: [{scope: Cluster, " + rule + "}]", admission.Never, admission.Never},
		{deployments, "matchConditions: [{name: a, expression: 'true'}], rules: [{" + rule + "}]", admission.Maybe,
			admission.Maybe},
		{deployments, "objectSelector: {matchLabels: {app: a}}, rules: [{" + rule + "}]", admission.Always, admission.Maybe},
		{deployments, "objectSelector: {matchLabels: {app: b}}, rules: [{" + rule + "}]", admission.Never, admission.Maybe},
		{deployments, "objectSelector: {matchExpressions: [{key: app, operator: Wrong}]}, rules: [{" + rule + "}]",
			admission.Maybe, admission.Maybe},
		{deployments, "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}, rules: [{" + rule + "}]",
			admission.Always, admission.Always},
		{deployments, "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: another}}, rules: [{" + rule + "}]",
			admission.Never, admission.Never},
		{deployments, "namespaceSelector: {matchLabels: {app: a}}, rules: [{" + rule + "}]", admission.Never,
			admission.Never},
		// its own labels
		{namespaces, "namespaceSelector: {matchLabels: {app: a}}, rules: [{" + rule + "}]", admission.Always,
			admission.Maybe},
		{namespaces, "namespaceSelector: {matchLabels: {app: b}}, rules: [{" + rule + "}]", admission.Never, admission.Maybe},
		// it is in none
		{nodes, "namespaceSelector: {matchLabels: {app: b}}, rules: [{" + rule + "}]", admission.Always, admission.Always},
		{nodes, "rules: [{scope: Namespaced, " + rule + "}]", admission.Never, admission.Never},
		{hooks, "rules: [{" + rule + "}]", admission.Never, admission.Never}, // exempt
	} {
		config := object(
			t, fmt.Sprintf(
				"{kind: ValidatingWebhookConfiguration, metadata: {name: hook}, webhooks: [{name: hook.example.com, %s}]}",
				test.hook))
		parsed, err := admission.Webhooks(config)
		if err != nil || len(parsed) != 1 {
			t.Fatalf("%s: %v, %v", test.hook, parsed, err)
		}
		r := admission.NewRegistry(source(t, nil))
		namespace := ""
		if test.of.Namespaced {
			namespace = "shop"
		}
		w := admission.Of(admissionv1.Update, test.of, namespace, "a")
		if got := r.Calls(t.Context(), parsed[0], w); got != test.outline {
			t.Errorf("%s, for the name of one of %s: %d, want %d", test.hook, test.of.Resource, got, test.outline)
		}
		w.Outline = false
		w.Object.SetLabels(map[string]string{"app": "a"})
		if got := r.Calls(t.Context(), parsed[0], w); got != test.whole {
			t.Errorf("%s, for %s: %d, want %d", test.hook, test.of.Resource, got, test.whole)
		}
	}
}

// TestASubresourceIsCoveredWithItsObject: who may have changed an object is looked for in the
// writes to its subresources too. The server calls for these only what names them.
func TestASubresourceIsCoveredWithItsObject(t *testing.T) {
	t.Parallel()
	const rule = "{operations: [UPDATE], apiGroups: [''], apiVersions: [v1], resources: [namespaces/finalize]}"
	hooks, err := admission.Webhooks(object(t,
		"{kind: MutatingWebhookConfiguration, webhooks: [{name: a, rules: ["+rule+"]}]}"))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := admission.ParsePolicy(object(t,
		"{kind: MutatingAdmissionPolicy, spec: {matchConstraints: {resourceRules: ["+rule+"]}}}"))
	if err != nil {
		t.Fatal(err)
	}
	if !hooks[0].Covers(admissionv1.Update, namespaces) || !policy.Covers(admissionv1.Update, namespaces) ||
		policy.Covers(admissionv1.Delete, namespaces) {
		t.Error("a rule for a subresource does not cover the object, or covers a deletion")
	}
	w := admission.Of(admissionv1.Update, namespaces, "", "shop")
	if got := admission.NewRegistry(source(t, nil)).Calls(t.Context(), hooks[0], w); got != admission.Never {
		t.Errorf("it is called for an update of the object: %d", got)
	}
}

// TestANamespaceThatCannotBeReadMayBeSelected: unknown is not absent.
func TestANamespaceThatCannotBeReadMayBeSelected(t *testing.T) {
	t.Parallel()
	config := object(t, `{kind: MutatingWebhookConfiguration, metadata: {name: hook}, webhooks: [{name: hook.example.com, namespaceSelector: {matchLabels: {a: b}},
		rules: [{operations: [DELETE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]}]}`)
	r := admission.NewRegistry(source(t,
		map[string][]*unstructured.Unstructured{"mutatingwebhookconfigurations": {config}}))
	read, unread := r.Webhooks(t.Context())
	if len(read) != 1 || len(unread) != 0 || !read[0].Mutating() || !read[0].Fails() {
		t.Fatalf("%v, %v", read, unread)
	}
	for namespace, want := range map[string]bool{"shop": false, "hidden": true} {
		w := admission.Of(admissionv1.Delete, deployments, namespace, "a")
		if got := r.Calls(t.Context(), read[0], w) == admission.Maybe; got != want {
			t.Errorf("%s: may be called %t, want %t", namespace, got, want)
		}
		if got := r.MayRefuse(t.Context(), w); got != want {
			t.Errorf("%s: may refuse %t, want %t", namespace, got, want)
		}
	}
}

// TestWhichPoliciesAreApplied: a policy is applied through a binding that denies, to what the rules
// of both name.
func TestWhichPoliciesAreApplied(t *testing.T) {
	t.Parallel()
	const rule = "operations: [DELETE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]"
	for name, test := range map[string]struct {
		constraints, binding string
		applied              bool
	}{
		"bound": {"{resourceRules: [{" + rule + "}]}",
			"{policyName: keep, validationActions: [Deny]}", true},
		"only warns": {"{resourceRules: [{" + rule + "}]}",
			"{policyName: keep, validationActions: [Warn, Audit]}", false},
		"another's binding": {"{resourceRules: [{" + rule + "}]}",
			"{policyName: other, validationActions: [Deny]}", false},
		"another name": {"{resourceRules: [{" + rule + ", resourceNames: [b]}]}",
			"{policyName: keep, validationActions: [Deny]}", false},
		"excluded": {"{resourceRules: [{" + rule + "}], excludeResourceRules: [{" + rule + "}]}",
			"{policyName: keep, validationActions: [Deny]}", false},
		"bound elsewhere": {"{resourceRules: [{" + rule + "}]}",
			"{policyName: keep, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {a: b}}}}", false},
		"whatever its labels be": {"{resourceRules: [{" + rule + "}], objectSelector: {matchLabels: {a: b}}}",
			"{policyName: keep, validationActions: [Deny]}", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := admission.NewRegistry(source(t, map[string][]*unstructured.Unstructured{
				"validatingadmissionpolicies": {object(t,
					"{kind: ValidatingAdmissionPolicy, metadata: {name: keep}, spec: {matchConstraints: "+test.constraints+"}}")},
				"validatingadmissionpolicybindings": {object(t, "{metadata: {name: b}, spec: "+test.binding+"}")},
			}))
			w := admission.Of(admissionv1.Delete, deployments, "shop", "a")
			if got := r.MayRefuse(t.Context(), w); got != test.applied {
				t.Errorf("may refuse %t, want %t", got, test.applied)
			}
		})
	}
}

// TestWhatIsNamedHasAPlaceOfItsOwn: where a policy or its binding names objects, what holds for one
// object of a type holds for no other that is named.
func TestWhatIsNamedHasAPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	r := admission.NewRegistry(source(t, map[string][]*unstructured.Unstructured{
		"validatingadmissionpolicies": {object(t,
			"{metadata: {name: keep}, spec: {matchConstraints: {excludeResourceRules: [{resourceNames: [b]}]}}}")},
		"validatingadmissionpolicybindings": {object(t,
			"{metadata: {name: b}, spec: {policyName: keep, matchResources: {resourceRules: [{resourceNames: [c]}]}}}")},
	}))
	for name, want := range map[string]string{"a": "", "b": "b", "c": "c"} {
		got := r.Place(t.Context(), admission.Of(admissionv1.Delete, deployments, "shop", name))
		if got != (admission.Place{Type: deployments, Namespace: "shop", Name: want}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
