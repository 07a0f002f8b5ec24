package unfinalize

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
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
	Done []plan.Write
	// Err is why not all was done that was agreed: a RefusedError, a cluster.PutBackError,
	// change.ErrReplaced, change.ErrMoved, ErrNotReached, or the server's. The server's own errors
	// name the object.
	Err error
	// Failed is the action that Err is of; nil if there is no Err, or if the object was left alone.
	Failed *plan.Write
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
	next *action
}

// LeftAlone reports whether nothing was done to the object, or no more, on purpose: it is not what
// it was when it was assessed, or its turn did not come.
func (o *Outcome) LeftAlone() bool {
	return errors.As(o.Err, new(*RefusedError)) || errors.Is(o.Err, change.ErrReplaced) ||
		errors.Is(o.Err, ErrNotReached) || errors.Is(o.Err, ErrNotSelected)
}

// IsPutBack reports whether all that is wrong is that somebody put a finalizer back.
func (o *Outcome) IsPutBack() bool {
	return len(o.PutBack) > 0 && (o.Err == nil || errors.As(o.Err, new(*cluster.PutBackError)))
}

// failed notes why not all was done, and the action that was due if nothing says which one it was.
func (o *Outcome) failed(err error) {
	o.Err = err
	if o.Failed == nil && o.next != nil && !o.LeftAlone() {
		o.Failed = &o.next.Write
	}
}

// responsible says who put finalizers back after the write that removed them, as far as it can be
// known.
func (o *Outcome) responsible(now *unstructured.Unstructured, back []FinalizerRef) []PutBack {
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
	o.PutBack = append(o.PutBack, o.responsible(now, back)...)
	return len(back) > 0
}

// found notes how the object is now.
func (o *Outcome) found(now *unstructured.Unstructured) {
	o.Remaining, o.Grace, o.Half = finalizersOn(now), grace(now), halfDeleted(now)
	o.Node = status.Nested(now, "spec", "nodeName")
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

// Printed is the plan as it is printed.
func (p *Planned) Printed() *v1alpha1.Plan {
	candidates := p.Candidates()
	out := v1alpha1.NewPlan(p.allGaps())
	for _, c := range candidates {
		object := c.Ref
		out.Roots = append(out.Roots, object)
		for _, v := range c.Assessments {
			out.Verdicts = append(out.Verdicts, c.verdict(v, p.Overrides))
			for _, r := range v.Refusals {
				if r.Code == Forbidden {
					out.Forbidden = append(out.Forbidden,
						v1alpha1.Forbidden{Object: object, Verb: v.Method.verb(), Reason: r.Because})
				}
			}
		}
		if c.Refused(p.Overrides) {
			continue
		}
		for _, a := range c.Actions() {
			out.Actions = append(out.Actions, a.Printed(plan.ByClient))
		}
		stays := phrase.Words(c.stays(), func(h FinalizerRef) string { return h.Name })
		switch {
		case len(stays) > 0:
			out.Blockers = append(out.Blockers,
				v1alpha1.Blocker{Object: object, Finalizers: stays, Because: "these finalizers stay"})
		case c.ends():
			out.Deleted = append(out.Deleted, object)
		}
		out.Stranded = append(out.Stranded, c.stranded()...)
	}
	for _, c := range candidates { // what follows is told of what is refused too: it can be why
		follows, disks := c.aftermath()
		out.Follows, out.Disks = append(out.Follows, follows...), append(out.Disks, disks...)
		out.Complete = out.Complete && (c.After() == nil || !c.After().Unlisted)
	}
	return out
}

// aftermath are what follows when the object of a candidate is gone, and the volumes whose data are
// destroyed.
func (c *Candidate) aftermath() ([]v1alpha1.Follower, []v1alpha1.Disk) {
	after := c.After()
	if after == nil {
		return nil, nil
	}
	var follows []v1alpha1.Follower
	for _, ref := range after.Deleted {
		follows = append(follows, v1alpha1.Follower{Object: ref, Of: c.Ref})
	}
	return follows, after.Disks
}

// stranded are what is left in a namespace.
func (c *Candidate) stranded() []v1alpha1.ObjectRef {
	e := c.Stranded()
	if e == nil {
		return nil
	}
	return e.Remaining
}

// verb is the API server's verb of the first write of a method.
func (m Method) verb() string {
	switch m {
	case ByPolicy, ByDelete:
		return "delete"
	case ByFinalizing:
		return "update"
	}
	return "patch"
}

// verdict is what is to be done about a finalizer as it is printed.
func (c *Candidate) verdict(v Assessment, overrides Overrides) v1alpha1.FinalizerVerdict {
	out := v1alpha1.FinalizerVerdict{
		Object: c.Ref, Finalizer: v.Name, Field: string(v.Field), Verdict: string(v.Method),
		Needs: v.Needs(overrides), Note: v.Note,
		Actor: v.Actor.Who, Life: string(v.Actor.Life), Evidence: v.Actor.Says(), Outside: status.Outside(c.Object),
	}
	if v.Actor.IsKnown {
		k := v.Actor.Known
		out.Risk, out.Polarity, out.Leaks, out.Completion = string(k.Risk), string(k.Polarity), k.IfRemoved, k.OnCompletion()
	}
	if len(v.Against(overrides)) > 0 {
		out.Verdict = "Refused"
	}
	out.Refusals = overrides.Printed(v.Refusals)
	return out
}

// Printed are refusals as they are printed.
func (t Overrides) Printed(refusals []Refusal) []v1alpha1.Refusal {
	var all []v1alpha1.Refusal
	for _, r := range refusals {
		all = append(all, v1alpha1.Refusal{Reason: string(r.Code), Because: r.Because, Override: string(r.Override),
			Overridden: t.Covers(r), Hint: r.Hint})
	}
	return all
}

// Result is what came of the plan as it is printed. The outcomes are of the objects that the plan
// does not refuse; left says why an object of them still exists.
func (p *Planned) Result(outcomes []*Outcome, left func(*Outcome) string) *v1alpha1.Result {
	out := v1alpha1.NewResult(p.allGaps())
	for _, refused := range p.Refused() {
		for _, r := range refused.Assessment.Against(p.Overrides) {
			because := strings.TrimPrefix(refused.Assessment.Name+": "+r.Because, ": ")
			out.Skip(refused.Candidate.Ref, because)
		}
	}
	for _, o := range outcomes {
		object := o.Candidate.Ref
		for _, d := range o.Done {
			out.Add(d.Printed(plan.ByClient), nil)
			if d.Verb == plan.VerbFinalizeNamespace {
				out.Stranded = append(out.Stranded, o.Candidate.stranded()...)
			}
		}
		if len(o.Done) > 0 {
			follows, disks := o.Candidate.aftermath()
			out.Follows, out.Disks = append(out.Follows, follows...), append(out.Disks, disks...)
		}
		switch {
		case o.Failed != nil:
			out.Add(o.Failed.Printed(plan.ByClient), o.Err)
		case o.Err != nil:
			out.Skip(object, o.Err.Error())
		}
		if len(o.Done) == 0 || o.Gone {
			continue
		}
		out.Remaining = append(out.Remaining,
			v1alpha1.SkippedObject{Object: object, Because: left(o)})
	}
	return out
}
