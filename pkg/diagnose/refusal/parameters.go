package refusal

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"

	corev1 "k8s.io/api/core/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// noParameters is what the server says where a binding names parameters that do not exist, and denies without them.
const noParameters = "no params found for policy binding"

// withoutParameters completes the finding about a policy whose parameters do not exist. The server looks for them before it evaluates the policy's
// matchConditions, and after the binding's matchResources: the binding is what can be changed.
func (e *Examiner) withoutParameters(ctx context.Context, w admission.Write, f core.Finding, binding v1alpha1.ObjectRef) core.Finding {
	what, namespace := "its parameters", w.Object.GetNamespace()
	o, err := e.Reader.GetObject(ctx, schema.GroupResource{Group: admission.ValidatingPolicies.Group, Resource: binding.Resource}, "", binding.Name)
	known := err == nil && o != nil
	if known {
		name, _, _ := unstructured.NestedString(o.Object, "spec", "paramRef", "name")
		in, _, _ := unstructured.NestedString(o.Object, "spec", "paramRef", "namespace")
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
		exempted = core.Command("kubectl", "patch", "OBJECT", "--type=merge", "-p", `{"spec":{"paramRef":{"parameterNotFoundAction":"Allow"}}}`).
			Doing("has the policy deny nothing while its parameters are missing")
	}
	f.Remedy = fmt.Sprintf("Restore %s, or change the binding so that it leaves this write out: the policy itself stays.", what)
	f.Commands = []core.Step{core.At(binding, core.Describe().Doing("shows which parameters it names").Risking(finalizer.RiskNone)), core.At(binding, exempted)}
	return e.Possible(ctx, f, core.Creation{What: what, Namespace: namespace, Left: "Change the binding so that it leaves this write out: the policy itself stays."})
}

// exemptNamespace is the command that leaves a namespace out of a binding, in addition to what it leaves out already.
func exemptNamespace(binding *unstructured.Unstructured, namespace string) core.Step {
	m, _, _ := unstructured.NestedSlice(binding.Object, "spec", "matchResources", "namespaceSelector", "matchExpressions")
	m = append(m, map[string]any{"key": corev1.LabelMetadataName, "operator": string(metav1.LabelSelectorOpNotIn), "values": []any{namespace}})
	patch := map[string]any{"spec": map[string]any{"matchResources": map[string]any{"namespaceSelector": map[string]any{"matchExpressions": m}}}}
	text, _ := json.Marshal(patch) // which is made of texts alone
	return core.Command("kubectl", "patch", "OBJECT", "--type=merge", "-p", string(text)).Doing("leaves namespace " + namespace + " out of what the policy applies to")
}
