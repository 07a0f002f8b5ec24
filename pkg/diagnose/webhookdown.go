package diagnose

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
)

// webhookDown is for a webhook that the server called in vain. The server names the first, and whoever repairs that meets the next: all that are
// provably down come along.
func (e *refusal) webhookDown(ctx context.Context, w admission.Write, said string, names []string) []finding {
	hooks, unread := e.admission.Webhooks(ctx)
	var findings []finding
	for _, h := range hooks {
		if h.Name == names[0] && e.admission.Calls(ctx, h, w) != admission.Never {
			findings = append(findings, e.down(ctx, h, w, said))
		}
	}
	if len(findings) == 0 { // it was deleted meanwhile, or may not be read
		findings = append(findings, finding{
			code: AdmissionWebhookDown, evidence: append(observed(fmt.Sprintf("%s fails: %s", w, said)), observed(unread...)...),
			remedy: fmt.Sprintf("Restore the server of webhook %s. If its component was uninstalled, delete the webhook configuration: only the registration is removed.", names[0]),
		})
	}
	return distinct(append(findings, e.untried(ctx, w, said, nil)...))
}

// untried returns the webhooks that would be called for a write, and that are down, without trying: the user may not write, or a webhook does not
// support dry runs (API-041).
func (e *refusal) untried(ctx context.Context, w admission.Write, _ string, _ []string) []finding {
	hooks, _ := e.admission.Webhooks(ctx)
	var findings []finding
	for _, h := range hooks {
		service := h.ClientConfig.Service
		switch {
		case !h.Fails() || e.admission.Calls(ctx, h, w) == admission.Never:
			continue
		case e.tries.once(h) != "":
			findings = append(findings, e.down(ctx, h, w, ""))
			continue
		case service == nil || len(h.MatchConditions) > 0:
			continue
		}
		if b := actor.BackendOf(ctx, e.reader, service.Namespace, service.Name); b.Down {
			findings = append(findings, e.down(ctx, h, w, ""))
		}
	}
	return findings
}

// down is the cause that a webhook is that does not answer.
func (e *refusal) down(ctx context.Context, h admission.Webhook, w admission.Write, said string) finding {
	about := e.ref(h.Config)
	f := finding{code: AdmissionWebhookDown, about: &about}
	if said != "" {
		f.evidence = append(f.evidence, observed(fmt.Sprintf("%s fails: %s", w, said))...)
	}
	f.evidence = append(f.evidence, observed(fmt.Sprintf("a rule of webhook %s matches %s, and its failurePolicy is Fail", h.Name, w))...)
	if len(h.MatchConditions) > 0 && said == "" {
		f.evidence = append(f.evidence, observed("whether its matchConditions are met was not tried")...)
	}
	b := e.called(ctx, h.Service())
	f.evidence = append(f.evidence, b.evidence...)
	if about := e.tries.once(h); about != "" {
		f.evidence = append(f.evidence, observed("it was called once, about "+about+", and not again")...)
	}
	f.remedy = b.revival() + fmt.Sprintf(" If its component was uninstalled, delete the %s: only the registration is removed.", about.Kind)
	f.commands = append(slices.Clone(b.restore), command("kubectl", "delete", "OBJECT").doing("removes the registration, so that the webhook is no longer called"))
	return e.revivable(ctx, f, b, fmt.Sprintf("The remaining option is to delete the %s: only the registration is removed.", about.Kind))
}

// describe is the command that shows what a cause lies in.
func describe() step {
	return command("kubectl", "describe", "OBJECT").doing("shows it, with its events")
}
