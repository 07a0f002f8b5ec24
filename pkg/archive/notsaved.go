package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// NotSaved words an error of Save for somebody who does nothing without the archive; not says what
// did not happen because of it, as in "nothing was deleted". It is a refusal if an object cannot be
// read, and none if the file cannot be written. If ctx has ended, it is what ended it.
func NotSaved(ctx context.Context, err error, not string) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*cluster.UnreadError)):
		return answer.Refuse(answer.WithHint(fmt.Errorf("%s: the archive would be incomplete: %w", not, err),
			"omit --archive to continue without a copy"))
	}
	return fmt.Errorf("%s: writing the archive: %w", not, err)
}
