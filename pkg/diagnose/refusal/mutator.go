package refusal

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// mutator is what may change an object on the way to the storage: a webhook or a
// MutatingAdmissionPolicy.
type mutator struct {
	what   string
	config *unstructured.Unstructured
	// path is where its match conditions belong, and conditions says that it has some.
	path       string
	conditions bool
	policy     bool
}

// mutators returns what is called for a write and may change it, and what could not be listed.
func (e *Examiner) mutators(ctx context.Context, w admission.Write) (all []mutator, unread []string) {
	hooks, unread := e.hooks(ctx, w, "")
	for _, h := range hooks {
		if h.Mutating() {
			all = append(all, mutator{what: h.String(), config: h.Config, path: fmt.Sprintf("/webhooks/%d", h.Index),
				conditions: len(h.MatchConditions) > 0})
		}
	}
	policies, unlisted := e.Reader.Admission().Policies(ctx, admission.MutatingPolicies, w)
	for _, p := range policies {
		all = append(all, mutator{what: p.String(), config: p.Config, path: "/spec", conditions: len(p.MatchConditions) > 0,
			policy: true})
	}
	return all, append(unread, unlisted...)
}

// suspected adds to a finding what is called for a write and may have changed it, with what that may
// have done, and returns it.
func (e *Examiner) suspected(ctx context.Context, w admission.Write, f *core.Finding, may string) []mutator {
	all, unread := e.mutators(ctx, w)
	f.Evidence = append(f.Evidence, core.Observed(unread...)...)
	for _, m := range all {
		f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Located(m.config),
			fmt.Sprintf("%s is called for %s%s", m.what, w, may))...)
	}
	return all
}

// kindsOf names what some mutators are.
func kindsOf(all []mutator) string {
	webhooks, policies := false, false
	for _, m := range all {
		webhooks, policies = webhooks || !m.policy, policies || m.policy
	}
	switch {
	case webhooks && policies:
		return "webhook or policy"
	case policies:
		return "admission policy"
	}
	return "webhook"
}

// exemptions are the commands that exempt objects that are being deleted from mutators.
func (e *Examiner) exemptions(all []mutator) []core.Step {
	var steps []core.Step
	for _, m := range all {
		steps = append(steps, core.At(e.Ref(m.config), exempt(m.path, m.conditions)).
			Safely("exempts objects that are being deleted from "+m.what))
	}
	return steps
}

// putBack is for a finalizer that is on the object again in the answer to the patch that removed it
// (API-033).
func (e *Examiner) putBack(ctx context.Context, w admission.Write, finalizer string) core.Finding {
	f := core.Finding{
		Code: core.FinalizerPutBack, Finalizer: finalizer,
		Evidence: core.Observed("the server answers a patch that removes it with an object that still has it"),
	}
	all := e.suspected(ctx, w, &f, "")
	if len(all) > 0 {
		f.Remedy = fmt.Sprintf("A mutating %s puts it back: exempt objects that are being deleted from it.", kindsOf(all))
		f.Commands = e.exemptions(all)
	}
	if len(all) == 1 {
		f.About = new(e.Ref(all[0].config))
	}
	return f
}

// serverFails is for an update that the API server answers with an internal error, without naming a
// webhook: a mutating one may have answered with a patch that cannot be applied
// (k8s.io/apiserver/pkg/admission/plugin/webhook/mutating, dispatcher.go).
func (e *Examiner) serverFails(ctx context.Context, w admission.Write, said string) []core.Finding {
	f := core.Finding{Code: core.AdmissionDenied, Evidence: core.Seen("the dry run of %s failed: %s", w, said),
		Sentence: "the API server answers " + w.String() + " with an internal error",
		Remedy:   "Read the log of the API server: it says what fails.", Commands: []core.Step{core.Describe()}}
	all := e.suspected(ctx, w, &f, ", and may have answered with a patch that cannot be applied")
	if len(all) > 0 {
		f.Remedy = fmt.Sprintf("The log of the API server says what fails. If it is the patch of a mutating %s, correct it there, "+
			"or exempt objects that are being deleted from it.", kindsOf(all))
		f.Commands = append(f.Commands, e.exemptions(all)...)
	}
	if len(all) == 1 {
		f.About = new(e.Ref(all[0].config))
	}
	return []core.Finding{f}
}

// fieldErrors returns what the server finds wrong with an object. There is nothing if a test of the
// patch failed, which has the same code.
func fieldErrors(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return phrase.Words(status.Status().Details.Causes,
		func(c metav1.StatusCause) string { return c.Field + ": " + c.Message })
}

// invalid is for an object that would not be valid although nothing but its finalizers changes: it
// was valid once, or a webhook changes more (API-032).
func (e *Examiner) invalid(ctx context.Context, w admission.Write, wrong []string) []core.Finding {
	f := core.Finding{
		Code: core.ObjectInvalid, Evidence: core.Seen("every %s is refused: %s", w, phrase.And(wrong)),
		Commands: []core.Step{core.Command("kubectl", "edit", "OBJECT")},
	}
	all := e.suspected(ctx, w, &f, ", and may change these fields on the way")
	if len(all) > 0 {
		f.Remedy = fmt.Sprintf(
			"If the stored object has these fields right, a mutating %s changes them: exempt objects that are being deleted from it. Otherwise correct the fields.", kindsOf(all))
		f.Commands = append(e.exemptions(all), f.Commands...)
	}
	return []core.Finding{f}
}
