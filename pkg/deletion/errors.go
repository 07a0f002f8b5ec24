package deletion

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// failures are the errors of single objects. Those that are without an answer only because of an
// interruption are still under way, and those that were declined share an error.
func failures(result *act.Result) []error {
	var errs []error
	for _, failed := range result.Failed {
		declined := result.Declined != nil && errors.Is(failed.Err, act.ErrChanged)
		if !declined && !errors.Is(failed.Err, act.ErrInterrupted) {
			errs = append(errs, failed.Err)
		}
	}
	for _, o := range result.Orphaned {
		if o.Err != nil {
			errs = append(errs, o.Err)
		}
	}
	return append(errs, result.Declined)
}

// keptError is the finding that programs have left alone what they were to delete; nil if none has.
// It names the objects by what they were to go with.
func keptError(kept []act.KeptObject) error {
	objects := map[string][]graph.Ref{}
	var deleters []graph.Ref
	for _, k := range kept {
		if k.By.UID == "" {
			continue // the error is about what keeps it
		}
		if objects[k.By.UID] == nil {
			deleters = append(deleters, k.By)
		}
		objects[k.By.UID] = append(objects[k.By.UID], k.Object)
	}
	var errs []error
	for _, by := range deleters {
		of := objects[by.UID]
		were, them := "was", "it"
		if len(of) > 1 {
			were, them = "were", "them"
		}
		errs = append(errs, answer.Refuse(fmt.Errorf("%s %s kept: %s, which was to delete %s, is gone", firstFew(of), were,
			firstFew([]graph.Ref{by}), them)))
	}
	return errors.Join(errs...)
}

// ended is the error for what ended the deletion early; nil if nothing did.
func ended(ctx context.Context, opts Options, result *act.Result, err error) error {
	left := opts.Words.remaining(result)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return answer.WithHint(fmt.Errorf("%w; not deleted yet: %s", context.Cause(ctx), left), hintLeft)
	case ctx.Err() != nil:
		return answer.WithHint(errors.New("interrupted; not deleted yet: "+left), hintLeft)
	case errors.Is(err, act.ErrNotCollected):
		return answer.Refuse(answer.WithHint(fmt.Errorf("timed out after %s; %w", opts.Timeout, err),
			"kubectl gc run removes them"))
	case errors.Is(err, context.DeadlineExceeded):
		return answer.Refuse(fmt.Errorf("timed out after %s; not deleted yet: %s", opts.Timeout, left))
	case errors.Is(err, errWaitsForOthers):
		return answer.Refuse(fmt.Errorf("%w; not deleted yet: %s", err, left))
	}
	return err
}

// hintLeft is what to do about a cascade that was not waited for to its end.
const hintLeft = "the cascade continues in the cluster; kubectl gc wait with the same objects waits for it"

// remaining says what is left of a deletion.
func (w Words) remaining(result *act.Result) string {
	left := "nothing"
	switch {
	case len(result.Blocked) == 0:
	case w.Remaining != nil:
		left = w.Remaining(result.Blocked)
	default:
		objects := make([]graph.Ref, len(result.Blocked))
		for i, b := range result.Blocked {
			objects[i] = b.Object
		}
		left = firstFew(objects)
	}
	unsent := 0
	for _, s := range result.Skipped {
		if errors.Is(s.Err, act.ErrNotSent) {
			unsent++
		}
	}
	if unsent > 0 {
		left += fmt.Sprintf("; the delete was not sent for %d of the named objects", unsent)
	}
	return left
}
