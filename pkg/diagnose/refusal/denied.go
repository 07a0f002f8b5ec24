package refusal

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// webhookDenies is for a webhook that answers, and says no.
func (e *Examiner) webhookDenies(ctx context.Context, w admission.Write, said string, names []string) []core.Finding {
	if w.Operation == admissionv1.Delete {
		if guards := e.guards(ctx, w, said); len(guards) > 0 {
			return guards
		}
	}
	hooks, unread := e.hooks(ctx, w, names[0])
	var findings []core.Finding
	for _, h := range hooks {
		f := core.Finding{About: new(e.Ref(h.Config)), Sentence: fmt.Sprintf("webhook %s denies %s", h.Name, w)}
		f = denied(w, said, f, "webhook "+h.Name, fmt.Sprintf("/webhooks/%d", h.Index), h.MatchConditions)
		if w.Operation == admissionv1.Delete {
			f = e.spokenOf(ctx, w, said, f)
		}
		findings = append(findings, f)
	}
	if len(findings) > 0 {
		return findings
	}
	return []core.Finding{{
		Code: core.AdmissionDenied, Evidence: append(core.Seen("%s is denied: %s", w, said), core.Observed(unread...)...),
		Sentence: fmt.Sprintf("webhook %s denies %s", names[0], w),
		Remedy:   fmt.Sprintf("Do what webhook %s asks for, or exempt the object from it.", names[0]),
	}}
}

// conditionFailed is how the API server says that it could not evaluate a matchCondition of a
// webhook. It names the expression and not the webhook, which it does not call
// (k8s.io/apiserver/pkg/admission/plugin/webhook/generic, Dispatch).
var conditionFailed = regexp.MustCompile(`^\[?expression '`)

// conditionFails is for a webhook with a matchCondition that fails, and failurePolicy Fail. Another
// condition that is false has the webhook left out all the same.
func (e *Examiner) conditionFails(ctx context.Context, w admission.Write, said string, _ []string) []core.Finding {
	hooks, unread := e.hooks(ctx, w, "")
	var findings []core.Finding
	for _, h := range hooks {
		for _, c := range h.MatchConditions {
			if !strings.Contains(said, "expression '"+c.Expression+"'") {
				continue
			}
			f := denied(w, said, core.Finding{About: new(e.Ref(h.Config))}, "", fmt.Sprintf("/webhooks/%d", h.Index),
				h.MatchConditions)
			f.Sentence = fmt.Sprintf("the API server cannot evaluate matchCondition %s of webhook %s, and denies %s", c.Name, h.Name, w)
			f.Remedy = fmt.Sprintf("Correct matchCondition %s of webhook %s: the API server cannot evaluate it. It knows object, oldObject, "+
				"request and authorizer; object is null in a DELETE, and a field that is not set has to be asked for with has().",
				c.Name, h.Name)
			findings = append(findings, f)
		}
	}
	if len(findings) == 0 {
		findings = byServerItself(w, said)
		findings[0].Evidence = append(findings[0].Evidence, core.Observed(unread...)...)
	}
	return findings
}

// policyDenies is for a ValidatingAdmissionPolicy.
func (e *Examiner) policyDenies(ctx context.Context, w admission.Write, said string, names []string) []core.Finding {
	return e.policyOf(ctx, admission.ValidatingPolicies, "ValidatingAdmissionPolicy", w, said, names)
}

// policyFails is for a policy that fails itself, and whose failurePolicy is Fail. The server does
// not say of which kind it is: it is the one that exists.
func (e *Examiner) policyFails(ctx context.Context, w admission.Write, said string, names []string) []core.Finding {
	if o, err := e.Reader.GetObject(ctx, admission.MutatingPolicies, "", names[0]); err == nil && o != nil {
		return e.policyOf(ctx, admission.MutatingPolicies, o.GetKind(), w, said, names)
	}
	return e.policyDenies(ctx, w, said, names)
}

// policyOf is the cause that a policy of a type is that refuses a write.
func (e *Examiner) policyOf(ctx context.Context, of schema.GroupResource, kind string, w admission.Write, said string,
	names []string) []core.Finding {
	about := v1alpha1.ObjectRef{APIVersion: of.Group + "/v1", Kind: kind, Resource: of.Resource, Name: names[0]}
	var conditions []admissionv1.MatchCondition
	o, err := e.Reader.GetObject(ctx, of, "", names[0])
	if err == nil && o != nil {
		about = e.Ref(o)
		list, _, _ := unstructured.NestedSlice(o.Object, "spec", "matchConditions")
		conditions = make([]admissionv1.MatchCondition, len(list))
	}
	f := core.Finding{About: &about, Sentence: fmt.Sprintf("%s %s denies %s", kind, about.Name, w)}
	f = denied(w, said, f, "the policy", "/spec", conditions)
	if strings.Contains(said, notConfigured) {
		f = withoutParamKind(o, f)
	}
	if names[1] == "" {
		return []core.Finding{f}
	}
	binding := v1alpha1.ObjectRef{APIVersion: about.APIVersion, Kind: kind + "Binding",
		Resource: admission.Bindings(of).Resource, Name: names[1]}
	switch {
	case strings.Contains(said, noParameters):
		f = e.withoutParameters(ctx, w, f, binding)
	case w.Operation == admissionv1.Delete:
		f.Remedy = "Do what the policy asks for. If it is wrong, delete its binding: the policy itself stays."
		f.Commands = []core.Step{core.Describe(), core.At(binding, core.Command("kubectl", "delete", "OBJECT"))}
		f = e.spokenOf(ctx, w, said, f)
	}
	return []core.Finding{f}
}

// denied completes the finding about somebody who denies a write. A denial of an update is cured
// for good by leaving out objects that are being deleted: nobody means those. A denial of a
// deletion is there to protect something.
func denied(w admission.Write, said string, f core.Finding, who, path string,
	conditions []admissionv1.MatchCondition) core.Finding {
	f.Code, f.Args, f.Evidence = core.AdmissionDenied, []string{"{who}", who}, core.Seen("%s is denied: %s", w, said)
	if w.Operation == admissionv1.Delete {
		f.Remedy = fmt.Sprintf("Do what %s asks for: a deletion is mostly denied to protect something that is in use.", who)
		f.Commands = []core.Step{core.Describe().Safely("shows what is called for which deletions")}
		return f
	}
	f.Commands = []core.Step{core.Describe().Safely("shows what it asks for, and of whom"),
		exempt(path, len(conditions) > 0).Doing("exempts updates of all objects that are being deleted, whoever makes them")}
	return f
}

// exempt is the command that adds a match condition, below a path, which leaves out updates of
// objects that are being deleted.
func exempt(path string, hasSome bool) core.Step {
	condition := `{"name":"not-being-deleted","expression":"request.operation != 'UPDATE' || !has(oldObject.metadata.deletionTimestamp)"}`
	patch := fmt.Sprintf(`[{"op":"add","path":"%s/matchConditions","value":[%s]}]`, path, condition)
	if hasSome {
		patch = fmt.Sprintf(`[{"op":"add","path":"%s/matchConditions/-","value":%s}]`, path, condition)
	}
	return core.Command("kubectl", "patch", "OBJECT", "--type=json", "-p", patch)
}

// notConfigured is what the server says of a policy that it cannot use, whose bindings and
// conditions it does not look at then: for the most part since the type of its parameters is not
// served (k8s.io/apiserver/pkg/admission/plugin/policy/generic, Dispatch).
const notConfigured = "failed to configure policy: "

// withoutParamKind completes the finding about such a policy.
func withoutParamKind(policy *unstructured.Unstructured, f core.Finding) core.Finding {
	what := "what it lacks"
	if policy != nil {
		if kind := status.Nested(policy, "spec", "paramKind", "kind"); kind != "" {
			what = fmt.Sprintf("the type of its parameters, %s of %s", kind,
				status.Nested(policy, "spec", "paramKind", "apiVersion"))
		}
	}
	f.Remedy = fmt.Sprintf("Restore %s: without it the policy denies everything that its matchConstraints name, whatever its "+
		"bindings and conditions say. If the type is served, an API server has not seen it: start that again. "+
		"If it is gone for good, delete the policy.", what)
	f.Commands = []core.Step{core.Describe().Safely("shows which type of parameters it names"),
		core.Command("kubectl", "patch", "OBJECT", "--type=merge", "-p", `{"spec":{"failurePolicy":"Ignore"}}`).
			Doing("has the policy deny nothing as long as the server cannot use it").Disturbing()}
	return f
}

// noParameters is what the server says where a binding names parameters that do not exist, and
// denies without them.
const noParameters = "no params found for policy binding"

// withoutParameters completes the finding about a policy whose parameters do not exist. The server
// looks for them before it evaluates the policy's matchConditions, and after the binding's
// matchResources: the binding is what can be changed.
func (e *Examiner) withoutParameters(ctx context.Context, w admission.Write, f core.Finding,
	binding v1alpha1.ObjectRef) core.Finding {
	what, namespace := "its parameters", w.Object.GetNamespace()
	o, err := e.Reader.GetObject(ctx,
		schema.GroupResource{Group: admission.ValidatingPolicies.Group, Resource: binding.Resource}, "", binding.Name)
	known := err == nil && o != nil
	if known {
		name := status.Nested(o, "spec", "paramRef", "name")
		in := status.Nested(o, "spec", "paramRef", "namespace")
		if name != "" {
			what = "its parameters, " + name
		}
		if in != "" {
			namespace = in
		}
	}
	var exempted core.Step
	if known && w.Object.GetNamespace() != "" {
		exempted = exemptNamespace(o, w.Object.GetNamespace())
	} else {
		exempted = core.Command("kubectl", "patch", "OBJECT", "--type=merge", "-p",
			`{"spec":{"paramRef":{"parameterNotFoundAction":"Allow"}}}`).
			Doing("has the policy deny nothing while its parameters are missing")
	}
	f.Remedy = fmt.Sprintf(
		"Restore %s, or change the binding so that it leaves this write out: the policy itself stays.", what)
	f.Commands = []core.Step{core.At(binding,
		core.Describe().Safely("shows which parameters it names")), core.At(binding, exempted)}
	return e.Possible(ctx, f, core.Creation{What: what, Namespace: namespace,
		Left: "Change the binding so that it leaves this write out: the policy itself stays."})
}

// exemptNamespace is the command that leaves a namespace out of a binding, in addition to what it
// leaves out already.
func exemptNamespace(binding *unstructured.Unstructured, namespace string) core.Step {
	m, _, _ := unstructured.NestedSlice(binding.Object, "spec", "matchResources", "namespaceSelector", "matchExpressions")
	m = append(m, map[string]any{"key": corev1.LabelMetadataName, "operator": string(metav1.LabelSelectorOpNotIn),
		"values": []any{namespace}})
	selector := map[string]any{"namespaceSelector": map[string]any{"matchExpressions": m}}
	patch := map[string]any{"spec": map[string]any{"matchResources": selector}}
	text, _ := json.Marshal(patch) // which is made of texts alone
	return core.Command("kubectl", "patch", "OBJECT", "--type=merge", "-p",
		string(text)).Doing("leaves namespace " + namespace + " out of what the policy applies to")
}
