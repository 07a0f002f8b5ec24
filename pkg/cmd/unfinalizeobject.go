package cmd

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// planObject returns what would be done as the versioned object that -o json prints.
func (f *unfinalizeFlags) planObject(cases []*unfinalize.Case, terms unfinalize.Terms, gaps []v1alpha1.Gap) *v1alpha1.Plan {
	gaps = allGaps(gaps, cases)
	out := &v1alpha1.Plan{
		TypeMeta: v1alpha1.TypeMeta("Plan"), Complete: len(gaps) == 0, Gaps: append([]v1alpha1.Gap{}, gaps...),
		Roots: []v1alpha1.ObjectRef{}, Actions: []v1alpha1.Action{}, Deleted: []v1alpha1.ObjectRef{}, Survivors: []v1alpha1.Survivor{},
		Blockers: []v1alpha1.Blocker{}, Stuck: []v1alpha1.Survivor{}, Remaining: []v1alpha1.Survivor{}, NonBlocking: []v1alpha1.NonBlocking{},
		Forbidden: []v1alpha1.Forbidden{},
	}
	for _, c := range cases {
		object := render.RefObject(c.Ref)
		out.Roots = append(out.Roots, object)
		for _, v := range c.Verdicts {
			out.Verdicts = append(out.Verdicts, verdictObject(c, v, terms))
			for _, r := range v.Refusals {
				if r.Code == unfinalize.Forbidden {
					out.Forbidden = append(out.Forbidden, v1alpha1.Forbidden{Object: object, Verb: wayVerb(v.Way), Reason: r.Because})
				}
			}
		}
		if c.Refused(terms) {
			continue
		}
		out.Actions = append(out.Actions, plannedActions(c)...)
		var stays []string
		for _, h := range c.Stays() {
			stays = append(stays, h.Name)
		}
		switch {
		case len(stays) > 0:
			out.Blockers = append(out.Blockers, v1alpha1.Blocker{Object: object, Finalizers: stays, Because: "these finalizers stay"})
		case c.Ends():
			out.Deleted = append(out.Deleted, object)
		}
		out.Stranded = append(out.Stranded, strandedObjects(c)...)
	}
	for _, c := range cases { // what follows is told of what is refused too: it can be why
		follows, disks := aftermathObjects(c)
		out.Follows, out.Disks = append(out.Follows, follows...), append(out.Disks, disks...)
		out.Complete = out.Complete && (c.After() == nil || !c.After().Unlisted)
	}
	return out
}

// aftermathObjects are what follows when the object of a case is gone, and the volumes whose data are destroyed.
func aftermathObjects(c *unfinalize.Case) ([]v1alpha1.Follower, []v1alpha1.Disk) {
	after := c.After()
	if after == nil {
		return nil, nil
	}
	var follows []v1alpha1.Follower
	for _, ref := range after.Deleted {
		follows = append(follows, v1alpha1.Follower{Object: render.RefObject(ref), Of: render.RefObject(c.Ref)})
	}
	return follows, after.Disks
}

// strandedObjects are what is left in a namespace.
func strandedObjects(c *unfinalize.Case) []v1alpha1.ObjectRef {
	e := c.Stranded()
	if e == nil {
		return nil
	}
	var objects []v1alpha1.ObjectRef
	for _, r := range e.Left {
		objects = append(objects, render.RefObject(r))
	}
	return objects
}

// wayVerb is the API server's verb of the first write of a way.
func wayVerb(way unfinalize.Way) string {
	switch way {
	case unfinalize.ByPolicy, unfinalize.ByDelete:
		return "delete"
	case unfinalize.ByFinalizing:
		return "update"
	}
	return "patch"
}

func verdictObject(c *unfinalize.Case, v unfinalize.Verdict, terms unfinalize.Terms) v1alpha1.FinalizerVerdict {
	out := v1alpha1.FinalizerVerdict{
		Object: render.RefObject(c.Ref), Finalizer: v.Name, Field: string(v.Field), Verdict: string(v.Way), Note: v.Note,
		Actor: v.Actor.Who, Life: string(v.Actor.Life), Evidence: v.Actor.Says(), Outside: status.Outside(c.Object),
	}
	if v.Actor.IsKnown {
		k := v.Actor.Known
		out.Risk, out.Polarity, out.Leaks, out.Completion = string(k.Risk), string(k.Polarity), k.IfRemoved, k.OnCompletion()
	}
	if len(v.Against(terms)) > 0 {
		out.Verdict = "Refused"
	}
	for _, r := range v.Refusals {
		out.Refusals = append(out.Refusals, v1alpha1.Refusal{
			Reason: string(r.Code), Because: r.Because, Override: string(r.Override), Overridden: terms.Override(r), Hint: r.Hint,
		})
	}
	return out
}

// plannedActions are the writes of a case, one for each way that it goes.
func plannedActions(c *unfinalize.Case) []v1alpha1.Action {
	var actions []v1alpha1.Action
	object := render.RefObject(c.Ref)
	add := func(verb plan.Verb, policy plan.Policy, verdicts []unfinalize.Verdict) {
		var names []string
		for _, v := range verdicts {
			if v.Name != "" {
				names = append(names, v.Name)
			}
		}
		because := render.Sentence(plan.Requested, c.Ref)
		action := v1alpha1.Action{
			Verb: string(verb), Object: object, Policy: string(policy), Finalizers: names, Wave: 1, By: string(plan.ByClient), Because: because, Reason: string(plan.Requested),
		}
		if verb == plan.VerbRemoveFinalizer {
			action.Outside = c.Outside()
		}
		actions = append(actions, action)
	}
	if verdicts := c.Goes(unfinalize.ByOrphaning); len(verdicts) > 0 {
		for _, d := range c.Dependents {
			actions = append(actions, v1alpha1.Action{
				Verb: string(plan.VerbOrphan), Object: render.RefObject(d.Ref), Owners: []string{c.Ref.UID}, Wave: 1, By: string(plan.ByClient),
				Because: render.Sentence(plan.OwnerOrphans, c.Ref), Reason: string(plan.OwnerOrphans),
			})
		}
		add(plan.VerbRemoveFinalizer, "", verdicts)
	}
	if verdicts := c.Goes(unfinalize.ByPatch); len(verdicts) > 0 {
		add(plan.VerbRemoveFinalizer, "", verdicts)
	}
	if verdicts := c.Goes(unfinalize.ByPolicy, unfinalize.ByDelete); len(verdicts) > 0 {
		add(plan.VerbDelete, plan.Background, verdicts)
	}
	if verdicts := c.Goes(unfinalize.ByFinalizing); len(verdicts) > 0 {
		add(plan.VerbFinalizeNamespace, "", verdicts)
	}
	return actions
}

// allGaps are those of the search for the objects and those that the verdicts met, each once.
func allGaps(search []v1alpha1.Gap, cases []*unfinalize.Case) []v1alpha1.Gap {
	gaps := slices.Clone(search)
	for _, c := range cases {
		for _, gap := range c.Gaps() {
			if !slices.Contains(gaps, gap) {
				gaps = append(gaps, gap)
			}
		}
	}
	return gaps
}

// resultObject returns what came of it as the versioned object that -o json prints.
func (f *unfinalizeFlags) resultObject(outcomes []*unfinalize.Outcome, cases, good []*unfinalize.Case, terms unfinalize.Terms, gaps []v1alpha1.Gap) *v1alpha1.Result {
	gaps = allGaps(gaps, cases)
	out := &v1alpha1.Result{
		TypeMeta: v1alpha1.TypeMeta("Result"), Complete: len(gaps) == 0, Gaps: append([]v1alpha1.Gap{}, gaps...),
		Done: []v1alpha1.Action{}, Failed: []v1alpha1.FailedAction{}, Skipped: []v1alpha1.SkippedObject{}, Orphaned: []v1alpha1.SkippedObject{},
		Remaining: []v1alpha1.SkippedObject{},
	}
	for _, c := range cases {
		for _, v := range c.Verdicts {
			for _, r := range v.Against(terms) {
				because := strings.TrimPrefix(v.Name+": "+r.Because, ": ")
				out.Skipped = append(out.Skipped, v1alpha1.SkippedObject{Object: render.RefObject(c.Ref), Because: because})
			}
		}
	}
	for _, o := range outcomes {
		object := render.RefObject(o.Case.Ref)
		for _, d := range o.Done {
			out.Done = append(out.Done, doneObject(d))
			if d.Verb == plan.VerbFinalizeNamespace {
				out.Stranded = append(out.Stranded, strandedObjects(o.Case)...)
			}
		}
		if len(o.Done) > 0 {
			follows, disks := aftermathObjects(o.Case)
			out.Follows, out.Disks = append(out.Follows, follows...), append(out.Disks, disks...)
		}
		if o.Err != nil {
			skipped := v1alpha1.SkippedObject{Object: object, Because: o.Err.Error()}
			if actions := plannedActions(o.Case); len(actions) > 0 && !leftAlone(o.Err) {
				out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: actions[len(actions)-1], Error: o.Err.Error()})
			} else {
				out.Skipped = append(out.Skipped, skipped)
			}
		}
		if len(o.Done) == 0 || o.Gone {
			continue
		}
		remaining := v1alpha1.SkippedObject{Object: object}
		switch {
		case o.Unread != nil:
			remaining.Because = "it could not be read afterwards: " + o.Unread.Error()
		case len(o.PutBack) > 0:
			remaining.Because = putBackWords(o.PutBack[0])
		default:
			remaining.Because = f.leftBecause(o)
		}
		out.Remaining = append(out.Remaining, remaining)
	}
	return out
}

// doneObject is one write as it is printed.
func doneObject(d unfinalize.Done) v1alpha1.Action {
	because := plan.Requested
	if d.Verb == plan.VerbOrphan {
		because = plan.OwnerOrphans
	}
	return v1alpha1.Action{
		Verb: string(d.Verb), Object: render.RefObject(d.Object), Policy: string(d.Policy), Owners: d.Owners, Finalizers: d.Finalizers, Wave: 1,
		By: string(plan.ByClient), Because: render.Sentence(because, d.Cause), Reason: string(because), Outside: d.Outside,
	}
}
