package refusal

import (
	"context"
	"fmt"
	"regexp"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// The ways in which the API server names who denies a write, as controllers repeat them.
var (
	hookDenied   = regexp.MustCompile(`admission webhook "([^"]+)" denied the request`)
	policyDenied = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request`)
)

// QuotedDenials returns who denied a write of an object's controller, by what the object says: a
// dry run of the user shows nothing where only others are refused. Which write it was the object
// does not say; so what is named has to be called for updates of it.
func (e *Examiner) QuotedDenials(ctx context.Context, o *unstructured.Unstructured) []core.Finding {
	t, ok := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	if !ok {
		return nil
	}
	w := admission.Write{Operation: admissionv1.Update, Type: t, Object: o}
	may := e.Reviews.Permission(ctx, cluster.AccessTo("patch", "", t, t.RefOf(o))) == cluster.Allowed
	var all []core.Finding
	add := func(at, says, text string) {
		for _, config := range e.denying(ctx, w, text) {
			f := core.Finding{
				Code: core.AdmissionDenied, About: new(e.Ref(config)), Evidence: core.ObservedAt(at, says),
				Sentence: fmt.Sprintf("%s %s has denied a write of the controller", config.GetKind(), config.GetName()),
				Remedy: fmt.Sprintf("Do what %s %s asks for: it has denied a write of the controller.", config.GetKind(),
					config.GetName()),
				Commands: []core.Step{core.Describe().Safely("shows what it asks for")},
			}
			if may { // and a dry run has shown that nothing refuses it
				f.Observe("a dry run of the %s with your own permissions is not denied", w)
				f.Remedy += " It denies nothing to you: kubectl gc can do it with your permissions."
			}
			all = append(all, f)
		}
	}
	for _, text := range e.failing(ctx, o) {
		all = append(all, e.calledElsewhere(ctx, text)...)
	}
	for _, c := range status.Failing(o) {
		add(cluster.Place(o, c.Field), e.Quoted(c), c.Message)
	}
	for i, warning := range e.Warnings(ctx, o) {
		add(cluster.Place(warning.Event, ""), e.QuotedWarning(i, warning), warning.Message)
	}
	return core.Distinct(all)
}

// failing are the texts in which an object, or a warning about it, speaks of a failure.
func (e *Examiner) failing(ctx context.Context, o *unstructured.Unstructured) (all []string) {
	for _, c := range status.Failing(o) {
		all = append(all, c.Message)
	}
	for _, warning := range e.Warnings(ctx, o) {
		all = append(all, warning.Message)
	}
	return all
}

// calledElsewhere returns the webhook that a text names as one that did not answer when the
// controller wrote something else (https://github.com/tektoncd/operator/pull/3472): that has one of
// its name, with failurePolicy Fail, behind which nothing answers.
func (e *Examiner) calledElsewhere(ctx context.Context, text string) (all []core.Finding) {
	m := calledInVain.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	hooks, _ := e.Reader.Admission().Webhooks(ctx)
	for _, h := range hooks {
		if h.Name != m[1] || !h.Fails() {
			continue
		}
		b := e.Called(ctx, h.Service())
		if !b.Down {
			continue
		}
		f := core.Finding{
			Sentence: fmt.Sprintf("webhook %s does not answer, and a write of the object's controller failed because of that", h.Name),
			Evidence: append(core.Seen("a write of its controller failed: %s", core.Brief(text)), b.Evidence...)}
		all = append(all, e.revive(ctx, f, h, b, text, core.Describe().Safely("shows which writes it is called for")))
	}
	return all
}

// denying returns the webhook configurations and policies that a text names as those that denied
// something, and that are called for a write.
func (e *Examiner) denying(ctx context.Context, w admission.Write, text string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	if m := hookDenied.FindStringSubmatch(text); m != nil {
		hooks, _ := e.hooks(ctx, w, m[1])
		for _, h := range hooks {
			all = append(all, h.Config)
		}
	}
	if m := policyDenied.FindStringSubmatch(text); m != nil {
		policies, _ := e.Reader.Admission().Policies(ctx, admission.ValidatingPolicies, w)
		for _, p := range policies {
			if p.Config.GetName() == m[1] {
				all = append(all, p.Config)
			}
		}
	}
	return all
}
