package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// definitionFinalizer keeps a CustomResourceDefinition until its instances are gone (API-060).
const definitionFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// definition returns what keeps a CustomResourceDefinition: its instances, and what holds those, or that they cannot be read.
func (e *examiner) definition(ctx context.Context, id graph.ID) []finding {
	ref := e.Graph.Ref(id)
	resource := schema.ParseGroupResource(ref.Name)
	var findings []finding
	for _, gap := range e.Gaps {
		if gap.Group == resource.Group && (gap.Resource == resource.Resource || gap.Resource == "*") {
			findings = append(findings, found(ref, e.gap(ctx, gap)...)...)
		}
	}
	o, err := e.source.get(ctx, definitions, "", ref.Name)
	terminating := statusCondition{}
	if err == nil && o != nil {
		terminating, _ = condition(o, "Terminating")
	}
	// The API server deletes the instances in the version that it stores, and the survey may have seen another.
	findings = append(findings, found(ref, e.conversions(ctx, terminating.Message)...)...)
	if len(findings) > 0 {
		return findings
	}
	instances := link.New(e.Graph).Dependents(id)
	for _, l := range instances {
		instance, r := l.Dependent, e.Graph.Ref(l.Dependent)
		if e.Graph.Deleted(instance) != 0 {
			findings = append(findings, behind(r, e.causes(ctx, instance))...)
			continue
		}
		findings = append(findings, behind(r, found(r, e.rejected(ctx, instance)...))...)
	}
	if len(findings) > 0 {
		return findings
	}
	evidence := []string{"it has no instances left"}
	if n := len(instances); n > 0 {
		evidence = []string{fmt.Sprintf("it has %s, which the API server deletes", count(n, "instance"))}
	}
	if terminating.Message != "" {
		evidence = append(evidence, fmt.Sprintf("condition Terminating says %s: %s", terminating.Reason, terminating.Message))
	}
	return found(ref, finding{
		code: FinalizerActorAlive, finalizer: definitionFinalizer, actor: "kube-apiserver", evidence: evidence,
		remedy:   "The API server looks again once a minute. Wait.",
		commands: []func(v1alpha1.ObjectRef) string{command("kubectl", "wait", "OBJECT", "--for=delete", "--timeout=2m")},
	})
}
