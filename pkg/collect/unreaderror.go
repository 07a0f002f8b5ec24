package collect

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// UnreadError is the finding that objects could not be read live.
func UnreadError(unread []v1alpha1.Gap) error {
	if len(unread) == 0 {
		return nil
	}
	more := ""
	if n := len(unread) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return answer.Refuse(
		fmt.Errorf("incomplete: %s%s; objects that could not be read are kept, and so are their dependents",
			phrase.Shorten(unread[0].Message), more))
}
