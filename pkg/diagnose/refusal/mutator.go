package refusal

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// mutator is what may change an object on the way to the storage: a webhook or a MutatingAdmissionPolicy.
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
	hooks, unread := e.Admission.Webhooks(ctx)
	for _, h := range hooks {
		if h.Mutating() && e.Admission.Calls(ctx, h, w) != admission.Never {
			all = append(all, mutator{what: h.String(), config: h.Config, path: fmt.Sprintf("/webhooks/%d", h.Index), conditions: len(h.MatchConditions) > 0})
		}
	}
	policies, unlisted := e.Admission.Policies(ctx, admission.MutatingPolicies, w)
	for _, p := range policies {
		all = append(all, mutator{what: p.String(), config: p.Config, path: "/spec", conditions: len(p.MatchConditions) > 0, policy: true})
	}
	return all, append(unread, unlisted...)
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
			Doing("exempts objects that are being deleted from "+m.what).Risking(finalizer.RiskNone))
	}
	return steps
}
