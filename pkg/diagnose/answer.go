package diagnose

import (
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// Finding is the answer that something is stuck, which exit code 2 tells.
func Finding(d *v1alpha1.Diagnosis) error {
	for _, s := range d.Stuck {
		if slices.ContainsFunc(s.Causes, core.IsStuck) || s.Since != nil && len(s.Causes) == 0 {
			return answer.ErrFound
		}
	}
	if !d.Complete {
		return answer.Refuse(errors.New("incomplete: not everything could be examined"))
	}
	return nil
}
