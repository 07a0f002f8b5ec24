package collect

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Incomplete is the finding that not everything was listed, or not every owner read; nil if all
// was.
func (l Listing) Incomplete() error {
	var errs []error
	if len(l.Gaps) > 0 {
		errs = append(
			errs, answer.Refuse(
				errors.New("incomplete: objects of types that could not be listed are not collected, and finalizers are kept on owners that may have unlisted dependents")))
	}
	return errors.Join(append(errs, UnreadError(l.Unread))...)
}

// refusal makes a refusal with a hint of a breaker's error; other errors stay as they are.
func refusal(err error) error {
	var most *MaxDeletesError
	var loss *OwnerLossError
	switch {
	case errors.As(err, &most) && most.Done > 0:
		return answer.Refuse(fmt.Errorf("stopped after %s: %w", phrase.Count(most.Done, "delete"), most))
	case errors.As(err, &most):
		return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: %w", most),
			"use -n, --types and -l to restrict what may be deleted"))
	case errors.As(err, &loss):
		return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: %w", loss),
			"the objects of a restored backup refer to owners that no longer exist, and collecting would delete what was restored; if you want that, add --allow-mass-collection"))
	}
	return err
}

// ended words what ended a run; nil if it came to its end, or if a watch was ended by its context.
func (p *Planned) ended(ctx context.Context, err error) error {
	switch {
	case err == nil, ctx.Err() != nil && p.request.Watch:
		return nil
	case errors.Is(err, ErrMaxDeletes) && !errors.As(err, new(*MaxDeletesError)):
		return answer.Refuse(fmt.Errorf("stopped after %d deletes: --max-deletes allows no more", p.request.MaxDeletes))
	}
	return refusal(err)
}

// timeUp words that Request.Timeout has ended a run. Waiting says that its last listing shows
// deletions that wait for somebody else.
func (p *Planned) timeUp(waiting bool) error {
	after := p.request.Timeout
	switch {
	case !p.loop.answered: // and a loop that has listed nothing has written nothing
		return answer.Refuse(
			answer.WithHint(fmt.Errorf("timed out after %s, before the cluster was listed again: nothing was written", after),
				"use a longer --timeout"))
	case !waiting:
		return answer.Refuse(answer.WithHint(fmt.Errorf("timed out after %s, before the run was done", after),
			"run the command again, with a longer --timeout"))
	}
	return answer.Refuse(fmt.Errorf("timed out after %s; some deletions still wait for other controllers", after))
}
