package diagnose

import (
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// unstuck are the causes of what is not stuck: it is not being deleted, or its deletion goes on.
var unstuck = []core.Code{core.NotDeleting, core.InProgress, core.PodTerminating}

// IsStuck says whether a cause is of an object that is stuck: it is being deleted, and the deletion
// does not go on.
func IsStuck(c v1alpha1.Cause) bool { return !slices.Contains(unstuck, core.Code(c.Code)) }

// Finding is the answer that something is stuck, which exit code 2 tells.
func Finding(d *v1alpha1.Diagnosis) error {
	for _, s := range d.Stuck {
		if slices.ContainsFunc(s.Causes, IsStuck) || s.Since != nil && len(s.Causes) == 0 {
			return answer.ErrFound
		}
	}
	if !d.Complete {
		return answer.Refuse(errors.New("incomplete: not everything could be examined"))
	}
	return nil
}
