package diagnose

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// crd returns what keeps a CustomResourceDefinition: its instances, and what holds those, or that
// they cannot be read.
func (e *examiner) crd(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	resource := schema.ParseGroupResource(ref.Name)
	var findings []core.Finding
	for _, gap := range e.Gaps {
		if gap.Group == resource.Group && (gap.Resource == resource.Resource || gap.Resource == "*") {
			findings = append(findings, core.Found(ref, e.unlisted.gap(ctx, gap)...)...)
		}
	}
	o, err := e.Reader.GetObject(ctx, cluster.CRDs, "", ref.Name)
	terminating := status.Condition{}
	if err == nil && o != nil {
		terminating, _ = status.Find(o, "Terminating")
	}
	// The API server deletes the instances in the version that it stores, and the snapshot may have
	// seen another.
	findings = append(findings, core.Found(ref, e.refusal.Conversions(ctx, terminating.Message)...)...)
	if len(findings) > 0 {
		return findings
	}
	instances := e.Links.Content(id)
	if o != nil && len(instances) > 0 {
		if findings = e.unreadable(ctx, o, instances[0]); len(findings) > 0 {
			return core.Found(ref, findings...)
		}
	}
	if findings = e.linked.goes(ctx, instances); len(findings) > 0 {
		return findings
	}
	evidence := core.Observed("it has no instances left")
	if n := len(instances); n > 0 {
		evidence = core.Seen("it has %s, which the API server deletes", phrase.Count(n, "instance"))
	}
	if terminating.Message != "" {
		evidence = append(evidence, core.Seen("condition Terminating says %s: %s", terminating.Reason,
			terminating.Message)...)
	}
	return core.Found(ref, core.Finding{
		Code: core.FinalizerActorAlive, Finalizer: link.CRDFinalizer, Actor: "kube-apiserver", Evidence: evidence,
		Remedy:   "Wait. The API server checks again once a minute.",
		Commands: []core.Step{core.Command("kubectl", "wait", "OBJECT", "--for=delete", "--timeout=2m")},
	})
}

// unreadable returns the conversion webhook that keeps the API server from deleting the instances
// of a CustomResourceDefinition: it deletes them in the version that it stores. Its condition says
// so only between two attempts, so that one instance is read in that version.
func (e *examiner) unreadable(ctx context.Context, crd *unstructured.Unstructured, instance graph.ID) []core.Finding {
	t, ok := e.Graph.Type(instance)
	if !ok || status.Nested(crd, "spec", "conversion", "strategy") != "Webhook" {
		return nil
	}
	t.Version = cmp.Or(status.StorageVersion(crd), t.Version)
	ref := e.Graph.Ref(instance)
	if _, err := e.Client.GetObject(ctx, t, ref.Namespace, ref.Name); err != nil {
		return e.refusal.Conversions(ctx, err.Error())
	}
	return nil
}
