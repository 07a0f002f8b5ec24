package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// DefaultRetry and DefaultRetryMost are how long Watch waits for a server that does not answer.
const (
	DefaultRetry     = time.Second
	DefaultRetryMost = time.Minute
)

// listError is what kept a pass from its listing.
type listError struct{ error }

// Unwrap returns the server's error.
func (e *listError) Unwrap() error { return e.error }

// refusedFor is for how long missing permissions may be the server's own matter: one that has just
// started refuses for a moment what it permits once it has read the roles.
const refusedFor = 30 * time.Second

// refusedError says that nothing may be listed.
type refusedError struct{ error }

// refusals say whether an error may be over when the server is asked again.
type refusals struct{ since time.Time }

// mayPass says so of a server that could not be reached, or did not answer as a server does. One
// that does not know who asks will not change its mind, and one that does not want to be asked may
// for a while.
func (r *refusals) mayPass(err error) bool {
	var list *listError
	switch {
	case !errors.As(err, &list) || apierrors.IsUnauthorized(err):
		r.since = time.Time{}
		return false
	case !apierrors.IsForbidden(err) && !errors.As(err, new(*refusedError)):
		r.since = time.Time{}
		return true
	case r.since.IsZero():
		r.since = time.Now()
	}
	return time.Since(r.since) < refusedFor
}

// nothingListed returns the error of a pass that has seen nothing at all. That permissions are
// missing is a *refusedError in it.
func nothingListed(s *Result) error {
	if len(s.ResumePoints) > 0 {
		return nil
	}
	err := errors.New("there is nothing to watch: no type can be listed")
	if len(s.Gaps) > 0 {
		err = fmt.Errorf("%w: %s", err, s.Gaps[0].Message)
	}
	if onlyForbidden(s.Gaps) {
		err = &refusedError{err}
	}
	return &listError{err}
}

// onlyForbidden reports whether permissions are missing, and nothing else is the matter.
func onlyForbidden(gaps []v1alpha1.Gap) bool {
	return !slices.ContainsFunc(gaps, func(g v1alpha1.Gap) bool { return g.Reason != v1alpha1.GapForbidden })
}

// pauses tell of reasons to wait, once each until they are over.
type pauses struct {
	tell func(error)
	told string // what was told last; empty if nothing is the matter
}

func (p *pauses) because(reason string, err error) {
	if p.tell != nil && p.told != reason {
		p.tell(err)
	}
	p.told = reason
}

// refused tells of a pass that was refused for an owner loss, and reports whether it was. The same
// kinds are the same loss, however many owners have joined.
func (p *pauses) refused(err error) bool {
	loss, is := errors.AsType[*OwnerLossError](err)
	if !is {
		return false
	}
	kinds := phrase.Words(loss.Losses, func(m plan.OwnerLoss) string { return m.Group + "/" + m.Kind })
	p.because("mass of "+strings.Join(kinds, " "), err)
	return true
}

func (p *pauses) over() {
	if p.told != "" && p.tell != nil {
		p.tell(nil)
	}
	p.told = ""
}

// backoff waits ever longer.
type backoff struct{ least, most, next time.Duration }

func (b *backoff) reset() { b.next = 0 }

func (b *backoff) longest() time.Duration { return cmp.Or(b.most, DefaultRetryMost) }

// step returns how long to wait now.
func (b *backoff) step() time.Duration {
	b.next = min(max(2*b.next, cmp.Or(b.least, DefaultRetry)), b.longest())
	return b.next - rand.N(b.next/4+1) // not all at the same moment
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

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
