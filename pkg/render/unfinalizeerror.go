package render

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// UnfinalizeErrors are the errors of what was not done, or not for long. Interrupted says that ctx
// ended, so that objects whose error that is are only named.
func UnfinalizeErrors(outcomes []*unfinalize.Outcome, interrupted bool) error {
	var errs []error
	var unfinished []string
	for _, o := range outcomes {
		if interrupted && errors.Is(o.Err, context.Canceled) {
			unfinished = append(unfinished, KindName(o.Candidate.Ref))
			continue
		}
		errs = append(errs, unfinalizeError(o))
	}
	if len(unfinished) > 0 {
		errs = append(errs, answer.WithHint(errors.New("interrupted; not finished: "+SortedFew(unfinished)),
			"kubectl gc unfinalize TYPE/NAME lists the finalizers that are still there"))
	}
	return errors.Join(errs...)
}

// unfinalizeError is the error of what was not done, or not for long.
func unfinalizeError(o *unfinalize.Outcome) error {
	object := Quoted(o.Candidate.Ref)
	switch {
	case o.LeftAlone():
		return answer.Refuse(fmt.Errorf("%s was left alone: %w", object, o.Err))
	case o.Err != nil && !o.IsPutBack():
		return fmt.Errorf("%s: %w", object, o.Err)
	case o.Unread != nil:
		return fmt.Errorf("%s could not be read afterwards: %w", object, o.Unread)
	case len(o.PutBack) > 0:
		return answer.Refuse(answer.WithHint(fmt.Errorf("%s: %s", object, putBackWords(o.PutBack[0])),
			"stop or change what adds it before you remove it again"))
	}
	return nil
}

// putBackWords say who has put a finalizer back.
func putBackWords(b unfinalize.PutBack) string {
	name := b.Name
	switch {
	case b.Ignored:
		return name + " is still there: the server was asked for the policy Background and has not removed it"
	case b.InRequest && len(b.Webhooks) > 0:
		return fmt.Sprintf(
			"%s was put back in the same request, by a webhook or a policy that changes writes; these webhooks may be called: %s", name, strings.Join(b.Webhooks, ", "))
	case b.InRequest:
		return name + " was put back in the same request, by a webhook or a policy that changes writes"
	case b.Manager != "":
		return fmt.Sprintf("%s was put back by %q, as managedFields say: its controller is running and keeps adding it", name,
			b.Manager)
	}
	return name + " was put back, and managedFields do not say by whom: a controller is running and keeps adding it"
}
