package diagnose

import (
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// unstuck are the causes of what is not stuck: it is not being deleted, or its deletion goes on.
var unstuck = []string{string(NotDeleting), string(InProgress), string(PodTerminating)}

// Finding is the answer that something is stuck, which exit code 2 tells.
func Finding(d *v1alpha1.Diagnosis) error {
	for _, s := range d.Stuck {
		stuck := func(c v1alpha1.Cause) bool { return !slices.Contains(unstuck, c.Code) }
		if slices.ContainsFunc(s.Causes, stuck) || s.Since != nil && len(s.Causes) == 0 {
			return answer.ErrFound
		}
	}
	if !d.Complete {
		return answer.Refuse(errors.New("incomplete: not everything could be examined"))
	}
	return nil
}
