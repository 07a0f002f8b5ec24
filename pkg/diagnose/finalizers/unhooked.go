package finalizers

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// unhooked completes a finding about a finalizer of which nobody knows who removes it, where a webhook
// called like its domain takes only objects with other labels: whoever has put the finalizer there
// may look after these only (https://github.com/sigstore/model-validation-operator/issues/180).
func (e *Examiner) unhooked(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	o := b.Object
	domain, _, slashed := strings.Cut(b.Finalizer, "/")
	t, served := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	if !slashed || !served || cluster.BuiltIn(domain) {
		return f
	}
	hooks, _ := e.Reader.Admission().Webhooks(ctx)
	for _, h := range hooks {
		if wants := leftOut(h, t, o, domain); wants != "" {
			says := fmt.Sprintf("%s takes only objects with the labels %s, which the object does not have", h, wants)
			f.Evidence = append(core.ObservedAt(cluster.Place(o, "metadata.labels"), says), f.Evidence...)
			f.Sentence = unsure(b) + "; " + says
			f.Remedy = f.Usual() + " Whoever removes it may look after objects with these labels only: set them again if so."
			break
		}
	}
	return f
}

// leftOut are the labels of the objects of a type that a webhook of a domain takes, if that leaves
// out an object for lack of one of the domain; empty otherwise.
func leftOut(h admission.Webhook, t graph.Type, o *unstructured.Unstructured, domain string) string {
	selector, err := metav1.LabelSelectorAsSelector(h.ObjectSelector)
	if err != nil || !strings.HasSuffix("."+h.Name, "."+domain) || !h.Covers(admissionv1.Create, t) {
		return ""
	}
	all, _ := selector.Requirements()
	for _, r := range all {
		of, _, _ := strings.Cut(r.Key(), "/")
		if !r.Matches(labels.Set(o.GetLabels())) && cluster.OfOneDomain(of, domain) {
			return selector.String()
		}
	}
	return ""
}
