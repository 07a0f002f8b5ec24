package unfinalize

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// PutBack is a finalizer that was removed and is on the object again.
type PutBack struct {
	FinalizerRef
	// InRequest says that the server's answer had it already: something that admits writes has put
	// it back (API-033). The removal is not among what is done then, and Err says so.
	InRequest bool
	// Ignored says that the server was asked for another policy and has left the finalizer of the
	// old one (API-006).
	Ignored bool
	// Manager and Time are of the last writer of the finalizer that managedFields name, empty if
	// they name none.
	Manager string
	Time    time.Time
	// Webhooks are the mutating webhooks, and policies, that are called about such writes.
	Webhooks []string
}

func newOutcome(c *Candidate) *Outcome {
	o := &Outcome{Candidate: c, off: map[FinalizerRef]bool{}, asked: map[FinalizerRef]bool{}}
	o.plan()
	return o
}

// Outcome is what came of a candidate.
type Outcome struct {
	Candidate *Candidate
	// Done are the writes that the server has taken.
	Done []Action
	// Err is why not all was done that was agreed: a RefusedError, a cluster.PutBackError,
	// change.ErrReplaced, change.ErrMoved, ErrNotReached, or the server's. The server's own errors
	// name the object.
	Err error
	// Failed is the action that Err is of; nil if there is no Err, or if the object was left alone.
	Failed *Action
	// Gone says that the object is no more; what follows is of one that is still there.
	Gone bool
	// Remaining are the finalizers that are on it, Grace the seconds of a grace period that is
	// pending, and Node where a pod runs that has one.
	Remaining []FinalizerRef
	Grace     int64
	Node      string
	PutBack   []PutBack
	// Half says that it is being deleted and nothing holds it.
	Half bool
	// Unread is why it is not known what has become of it.
	Unread error

	// Of the finalizers: off are those that were removed, asked those that the server was to remove
	// by another policy.
	off, asked map[FinalizerRef]bool
	// next is the action that is due.
	next *Action
}

// LeftAlone says whether nothing was done to the object, or no more, on purpose: it is not what it
// was when it was assessed, or its turn did not come.
func (o *Outcome) LeftAlone() bool {
	var refused *RefusedError
	return errors.As(o.Err, &refused) || errors.Is(o.Err, change.ErrReplaced) || errors.Is(o.Err, ErrNotReached) ||
		errors.Is(o.Err, ErrNotSelected)
}

// IsPutBack says whether all that is wrong is that somebody put a finalizer back.
func (o *Outcome) IsPutBack() bool {
	var back *cluster.PutBackError
	return len(o.PutBack) > 0 && (o.Err == nil || errors.As(o.Err, &back))
}

// failed notes why not all was done, and the action that was due if nothing says which one it was.
func (o *Outcome) failed(err error) {
	o.Err = err
	if o.Failed == nil && !o.LeftAlone() {
		o.Failed = o.next
	}
}

// blame says who put finalizers back after the write that removed them, as far as it can be known.
func (o *Outcome) blame(now *unstructured.Unstructured, back []FinalizerRef) []PutBack {
	var all []PutBack
	for _, h := range back {
		b := PutBack{FinalizerRef: h, Ignored: o.asked[h]}
		if !b.Ignored && h.Field == finalizer.InMetadata {
			last := cluster.LastWriter(now, cluster.FinalizerPath(h.Name))
			b.Manager, b.Time = last.Manager, last.At
		}
		all = append(all, b)
	}
	return all
}

// lookAfter reads what was written to again, until it is gone or for as long as a controller may
// take to put a finalizer back.
func (p *performer) lookAfter(ctx context.Context, outcomes []*Outcome) {
	end := time.Now().Add(cmp.Or(p.opts.Settle, change.SettleTime))
	cluster.Each(p.client, outcomes, func(_ int, o *Outcome) {
		if len(o.Done) > 0 && !o.Gone { // the outcome has what was seen
			_ = change.LookAfter(ctx, end, func(ctx context.Context) bool { return p.look(ctx, o) })
		}
	})
}

// look reads an object. It is over if the object is gone, or if a finalizer is back.
func (p *performer) look(ctx context.Context, o *Outcome) (over bool) {
	now, err := p.read(ctx, o.Candidate)
	if change.IsOver(err) {
		o.Gone, o.Unread = true, nil
		return true
	}
	if o.Unread = err; err != nil {
		return false
	}
	o.found(now)
	back := o.back()
	o.PutBack = append(o.PutBack, o.blame(now, back)...)
	return len(back) > 0
}

// found notes how the object is now.
func (o *Outcome) found(now *unstructured.Unstructured) {
	o.Remaining, o.Grace, o.Half = FinalizersOn(now), grace(now), halfDeleted(now)
	o.Node, _, _ = unstructured.NestedString(now.Object, "spec", "nodeName")
}

// back are the finalizers that were removed and are there.
func (o *Outcome) back() []FinalizerRef {
	return slices.DeleteFunc(slices.Clone(o.Remaining), func(h FinalizerRef) bool { return !o.off[h] })
}

// Why something was not done, where neither the server nor package change says so.
var (
	// ErrNotSelected is of an object that was found by a selector and does not match it any more.
	ErrNotSelected = errors.New("it no longer matches the selector")
	// ErrNotReached is of an object whose turn did not come, because another was refused.
	ErrNotReached = errors.New("not reached: another object was refused before")
)

// RefusedError is of an object that is, since it was assessed, not what could be helped, or never
// was.
type RefusedError struct {
	Refusals []Refusal
	// Planned says that the plan had the refusals.
	Planned bool
}

// Error gives the reasons.
func (e *RefusedError) Error() string {
	because := phrase.Words(e.Refusals, func(r Refusal) string { return r.Because })
	if e.Planned {
		return strings.Join(because, "; ")
	}
	return "it was changed meanwhile: " + strings.Join(because, "; ")
}
