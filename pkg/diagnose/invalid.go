package diagnose

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// fieldErrors returns what the server finds wrong with an object. There is nothing if a test of the patch failed, which has the same code.
func fieldErrors(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var all []string
	for _, c := range status.Status().Details.Causes {
		all = append(all, fmt.Sprintf("%s: %s", c.Field, c.Message))
	}
	return all
}

// invalid is for an object that would not be valid although nothing but its finalizers changes: it was valid once, or a webhook changes more (API-032).
func (e *refusal) invalid(ctx context.Context, w admission.Write, wrong []string) []finding {
	f := finding{
		code: ObjectInvalid, evidence: observed(fmt.Sprintf("every %s is refused: %s", w, phrase.And(wrong))),
		remedy:   "Correct these fields. Where that cannot be done, loosen the schema that the object has to meet.",
		commands: []step{command("kubectl", "edit", "OBJECT")},
	}
	all, unread := e.mutators(ctx, w)
	f.evidence = append(f.evidence, observed(unread...)...)
	for _, m := range all {
		f.evidence = append(f.evidence, observedAt(from(m.config, ""), fmt.Sprintf("%s is called for %s, and may change these fields on the way", m.what, w))...)
	}
	if len(all) > 0 {
		f.remedy = fmt.Sprintf("If the stored object has these fields right, a mutating %s changes them: exempt objects that are being deleted from it. Otherwise correct the fields.", kindsOf(all))
		f.commands = append(e.exemptions(all), f.commands...)
	}
	return []finding{f}
}
