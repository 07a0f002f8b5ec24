package encode

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// UnfinalizePlan is what would be done about finalizers as it is printed.
func UnfinalizePlan(p *unfinalize.Planned) *v1alpha1.Plan {
	gaps, candidates := p.AllGaps(), p.Candidates()
	out := &v1alpha1.Plan{
		TypeMeta: v1alpha1.TypeMeta("Plan"), Complete: len(gaps) == 0, Gaps: append([]v1alpha1.Gap{}, gaps...),
		Roots: []v1alpha1.ObjectRef{}, Actions: []v1alpha1.Action{}, Deleted: []v1alpha1.ObjectRef{},
		Survivors: []v1alpha1.Survivor{},
		Blockers:  []v1alpha1.Blocker{}, Stuck: []v1alpha1.Survivor{}, Remaining: []v1alpha1.Survivor{},
		NonBlocking: []v1alpha1.NonBlocking{},
		Forbidden:   []v1alpha1.Forbidden{},
	}
	for _, c := range candidates {
		object := Ref(c.Ref)
		out.Roots = append(out.Roots, object)
		for _, v := range c.Assessments {
			out.Verdicts = append(out.Verdicts, verdict(c, v, p.Overrides))
			for _, r := range v.Refusals {
				if r.Code == unfinalize.Forbidden {
					out.Forbidden = append(out.Forbidden,
						v1alpha1.Forbidden{Object: object, Verb: methodVerb(v.Method), Reason: r.Because})
				}
			}
		}
		if c.Refused(p.Overrides) {
			continue
		}
		for _, a := range c.Actions() {
			out.Actions = append(out.Actions, unfinalizeAction(a))
		}
		var stays []string
		for _, h := range c.Stays() {
			stays = append(stays, h.Name)
		}
		switch {
		case len(stays) > 0:
			out.Blockers = append(out.Blockers,
				v1alpha1.Blocker{Object: object, Finalizers: stays, Because: "these finalizers stay"})
		case c.Ends():
			out.Deleted = append(out.Deleted, object)
		}
		out.Stranded = append(out.Stranded, stranded(c)...)
	}
	for _, c := range candidates { // what follows is told of what is refused too: it can be why
		follows, disks := aftermath(c)
		out.Follows, out.Disks = append(out.Follows, follows...), append(out.Disks, disks...)
		out.Complete = out.Complete && (c.After() == nil || !c.After().Unlisted)
	}
	return out
}
