package refusal

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"

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
func (e *Examiner) invalid(ctx context.Context, w admission.Write, wrong []string) []core.Finding {
	f := core.Finding{
		Code: core.ObjectInvalid, Evidence: core.Observed(fmt.Sprintf("every %s is refused: %s", w, phrase.And(wrong))),
		Remedy:   "Correct these fields. Where that cannot be done, loosen the schema that the object has to meet.",
		Commands: []core.Step{core.Command("kubectl", "edit", "OBJECT")},
	}
	all, unread := e.mutators(ctx, w)
	f.Evidence = append(f.Evidence, core.Observed(unread...)...)
	for _, m := range all {
		f.Evidence = append(f.Evidence, core.ObservedAt(core.From(m.config, ""), fmt.Sprintf("%s is called for %s, and may change these fields on the way", m.what, w))...)
	}
	if len(all) > 0 {
		f.Remedy = fmt.Sprintf("If the stored object has these fields right, a mutating %s changes them: exempt objects that are being deleted from it. Otherwise correct the fields.", kindsOf(all))
		f.Commands = append(e.exemptions(all), f.Commands...)
	}
	return []core.Finding{f}
}
