package refusal

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// webhookDown is for a webhook that the server called in vain. The server names the first, and
// whoever repairs that meets the next: all that are provably down come along.
func (e *Examiner) webhookDown(ctx context.Context, w admission.Write, said string, names []string) []core.Finding {
	hooks, unread := e.hooks(ctx, w, names[0])
	var findings []core.Finding
	for _, h := range hooks {
		findings = append(findings, e.down(ctx, h, w, said))
	}
	if len(findings) == 0 { // it was deleted meanwhile, or may not be read
		findings = append(findings, core.Finding{
			Code: core.AdmissionWebhookDown, Evidence: append(core.Seen("%s fails: %s", w, said), core.Observed(unread...)...),
			Args: []string{"{revival}", fmt.Sprintf("Restore the server of webhook %s.", names[0]), "{config}",
				"webhook configuration"},
		})
	}
	return core.Distinct(append(findings, e.untried(ctx, w, said, nil)...))
}

// hooks are the webhooks that are called for a write, those of a name if one is given, and what
// could not be listed.
func (e *Examiner) hooks(ctx context.Context, w admission.Write, name string) (hooks []admission.Webhook,
	unread []string) {
	hooks, unread = e.Reader.Admission().Webhooks(ctx)
	return slices.DeleteFunc(slices.Clone(hooks), func(h admission.Webhook) bool {
		return name != "" && h.Name != name || e.Reader.Admission().Calls(ctx, h, w) == admission.Never
	}), unread
}

// untried returns the webhooks that would be called for a write, and that are down, without trying:
// the user may not write, or a webhook does not support dry runs (API-041).
func (e *Examiner) untried(ctx context.Context, w admission.Write, _ string, _ []string) []core.Finding {
	hooks, _ := e.Reader.Admission().Webhooks(ctx)
	var findings []core.Finding
	for _, h := range hooks {
		service := h.ClientConfig.Service
		switch {
		case !h.Fails() || e.Reader.Admission().Calls(ctx, h, w) == admission.Never:
			continue
		case e.Tries.once(h) != "":
			findings = append(findings, e.down(ctx, h, w, ""))
			continue
		case service == nil || len(h.MatchConditions) > 0:
			continue
		}
		if b := actor.BackendOf(ctx, e.Reader, service.Namespace, service.Name); b.Down {
			findings = append(findings, e.down(ctx, h, w, ""))
		}
	}
	return findings
}

// down is the cause that a webhook is that does not answer.
func (e *Examiner) down(ctx context.Context, h admission.Webhook, w admission.Write, said string) core.Finding {
	f := core.Finding{Sentence: fmt.Sprintf("webhook %s does not answer, and its failurePolicy is Fail: %s is refused", h.Name, w)}
	if said != "" {
		f.Observe("%s fails: %s", w, said)
	}
	f.Observe("a rule of webhook %s matches %s, and its failurePolicy is Fail", h.Name, w)
	if len(h.MatchConditions) > 0 && said == "" {
		f.Observe("whether its matchConditions are met was not tried")
	}
	b := e.Called(ctx, h.Service())
	f.Evidence = append(f.Evidence, b.Evidence...)
	if about := e.Tries.once(h); about != "" {
		f.Observe("it was called once, about %s, and not again", about)
	}
	return e.revive(ctx, f, h, b, said)
}

// revive completes the finding about a webhook that does not answer: how to bring back what is behind
// it, then some ways to look at it, and last how to do without it.
func (e *Examiner) revive(ctx context.Context, f core.Finding, h admission.Webhook, b BehindService, said string,
	looks ...core.Step) core.Finding {
	about := e.Ref(h.Config)
	f.Code, f.About = core.AdmissionWebhookDown, &about
	f.Args = []string{"{revival}", b.Revival(said), "{config}", about.Kind}
	f.Commands = append(slices.Concat(b.Restore, looks), core.Command("kubectl", "delete", "OBJECT").
		Doing("removes the registration, so that the webhook is no longer called").Disturbing())
	return e.Revivable(
		ctx, f, b, fmt.Sprintf("The remaining option is to delete the %s: only the registration is removed.", about.Kind))
}
