package diagnose

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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
	var unseen []v1alpha1.Gap
	for _, gap := range e.Gaps {
		if gap.Group == resource.Group && (gap.Resource == resource.Resource || gap.Resource == "*") {
			unseen = append(unseen, gap)
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
	f := core.Finding{
		Code: core.FinalizerActorAlive, Finalizer: link.CRDFinalizer, Actor: "kube-apiserver",
		Evidence: core.Observed("it has no instances left"),
		Remedy:   "Wait. The API server checks again once a minute.",
		Commands: []core.Step{core.Command("kubectl", "wait", "OBJECT", "--for=delete", "--timeout=2m")},
	}
	switch n := len(instances); {
	case n > 0:
		f.Evidence = core.Seen("it has %s, which the API server deletes", phrase.Count(n, "instance"))
	case len(unseen) > 0:
		f.Code, f.Evidence = core.BlockerHidden, core.Observed(actor.GapClauses(unseen...)...)
		f.Sentence = "the API server deletes the instances first, and whether any are left could not be seen"
		f.Remedy = e.ToSee(unseen) + ", to see whether any are left, and what keeps them."
		f.Commands = []core.Step{core.Describe().Safely("shows the conditions, which say what remains")}
	}
	if terminating.Message != "" {
		f.Evidence = append(f.Evidence, core.Seen("condition Terminating says %s: %s", terminating.Reason,
			terminating.Message)...)
	}
	return core.Found(ref, f)
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
