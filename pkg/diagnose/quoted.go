package diagnose

import (
	"context"
	"fmt"
	"regexp"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// The ways in which the API server names who denies a write, as controllers repeat them.
var (
	hookDenied   = regexp.MustCompile(`admission webhook "([^"]+)" denied the request`)
	policyDenied = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request`)
)

// quotedDenials returns who denied a write of an object's controller, by what the object says: a dry run of the user shows nothing where only others are refused. Which
// write it was the object does not say; so what is named has to be called for updates of it.
func (e *refusal) quotedDenials(ctx context.Context, o *unstructured.Unstructured) []finding {
	t, ok := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	if !ok {
		return nil
	}
	w := admission.Write{Operation: admissionv1.Update, Type: t, Object: o}
	may := e.reviews.Ask(ctx, []cluster.Access{{Verb: "patch", Type: t, Namespace: o.GetNamespace(), Name: o.GetName()}})[0].Permission == cluster.Allowed
	var all []finding
	add := func(at, says, text string) {
		for _, config := range e.denying(ctx, w, text) {
			about := e.ref(config)
			f := finding{
				code: AdmissionDenied, about: &about, evidence: observedAt(at, says),
				remedy:   fmt.Sprintf("Do what %s %s asks for: it has denied a write of the controller.", config.GetKind(), config.GetName()),
				commands: []step{describe().doing("shows what it asks for").risking(finalizer.RiskNone)},
			}
			if may { // and a dry run has shown that nothing refuses it
				f.evidence = append(f.evidence, observed(fmt.Sprintf("a dry run of the %s with your own permissions is not denied", w))...)
				f.remedy += " It denies nothing to you: kubectl gc can do it with your permissions."
			}
			all = append(all, f)
		}
	}
	for _, c := range status.Failing(o) {
		add(from(o, c.Field), e.quoted(c), c.Message)
	}
	for i, warning := range e.warnings(ctx, o) {
		add(from(warning.event, ""), e.quotedWarning(i, warning), warning.message)
	}
	return distinct(all)
}

// denying returns the webhook configurations and policies that a text names as those that denied something, and that are called for a write.
func (e *refusal) denying(ctx context.Context, w admission.Write, text string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	if m := hookDenied.FindStringSubmatch(text); m != nil {
		hooks, _ := e.admission.Webhooks(ctx)
		for _, h := range hooks {
			if h.Name == m[1] && e.admission.Calls(ctx, h, w) != admission.Never {
				all = append(all, h.Config)
			}
		}
	}
	if m := policyDenied.FindStringSubmatch(text); m != nil {
		policies, _ := e.admission.Policies(ctx, admission.ValidatingPolicies, w)
		for _, p := range policies {
			if p.Config.GetName() == m[1] {
				all = append(all, p.Config)
			}
		}
	}
	return all
}

// blamed says whether one of some findings is about an object.
func blamed(findings []finding, o v1alpha1.ObjectRef) bool {
	for _, f := range findings {
		if f.about != nil && *f.about == o {
			return true
		}
	}
	return false
}
