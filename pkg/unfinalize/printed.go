package unfinalize

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Printed is the plan as it is printed.
func (p *Planned) Printed() *v1alpha1.Plan {
	candidates := p.Candidates()
	out := v1alpha1.NewPlan(p.AllGaps())
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
			out.Actions = append(out.Actions, a.printed())
		}
		stays := phrase.Words(c.Stays(), func(h FinalizerRef) string { return h.Name })
		switch {
		case len(stays) > 0:
			out.Blockers = append(out.Blockers,
				v1alpha1.Blocker{Object: object, Finalizers: stays, Because: "these finalizers stay"})
		case c.Ends():
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
	out := v1alpha1.NewResult(p.AllGaps())
	for _, refused := range p.Refused() {
		for _, r := range refused.Assessment.Against(p.Overrides) {
			because := strings.TrimPrefix(refused.Assessment.Name+": "+r.Because, ": ")
			out.Skip(refused.Candidate.Ref, because)
		}
	}
	for _, o := range outcomes {
		object := o.Candidate.Ref
		for _, d := range o.Done {
			out.Add(d.printed(), nil)
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
			out.Add(o.Failed.printed(), o.Err)
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

// printed is one write as it is printed.
func (d Action) printed() v1alpha1.Action {
	because := plan.Requested
	if d.Verb == plan.VerbOrphan {
		because = plan.OwnerOrphans
	}
	return v1alpha1.Action{
		Verb: string(d.Verb), Object: d.Object, Policy: string(d.Policy), Owners: d.Owners, Finalizers: d.Finalizers,
		Wave: 1,
		By:   string(plan.ByClient), Because: because.Sentence(d.Cause), Reason: string(because), Outside: d.Outside,
	}
}
