package restore

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Printed returns the plan as it is printed for programs.
func (p *Plan) Printed() *v1alpha1.RestorePlan {
	out := &v1alpha1.RestorePlan{
		TypeMeta: v1alpha1.TypeMeta("RestorePlan"), Archive: p.File, Actions: []v1alpha1.RestoreAction{},
		Left: append([]v1alpha1.Survivor{}, p.Left...), Held: append([]v1alpha1.Survivor{}, p.Held...),
		Forbidden: []v1alpha1.Forbidden{}, Complete: len(p.Held) == 0,
	}
	for i := range p.Steps {
		out.Actions = append(out.Actions, p.Steps[i].printed())
	}
	for _, f := range p.Forbidden {
		out.Forbidden = append(out.Forbidden, v1alpha1.Forbidden{
			Object: f.Type.Ref(f.Namespace, f.Name, ""), Verb: f.Verb, Reason: f.Reason,
		})
	}
	return out
}

// Printed returns what came of a plan as it is printed for programs.
func (r *Result) Printed(p *Plan) *v1alpha1.RestoreResult {
	out := &v1alpha1.RestoreResult{
		TypeMeta: v1alpha1.TypeMeta("RestoreResult"), Done: []v1alpha1.RestoreAction{}, Failed: []v1alpha1.RestoreFailed{},
		Left: append([]v1alpha1.Survivor{}, p.Left...), Held: append([]v1alpha1.Survivor{}, p.Held...),
		Complete: len(p.Held) == 0 && len(r.Failed) == 0,
	}
	for _, d := range r.Done {
		a := d.Step.printed()
		a.UID = d.UID
		a.Notes = slices.Concat(a.Notes, d.Notes)
		out.Done = append(out.Done, a)
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, v1alpha1.RestoreFailed{Action: f.Step.printed(), Error: f.Err.Error()})
	}
	for _, s := range r.Unasked {
		out.Unasked = append(out.Unasked, s.printed())
	}
	return out
}

func (s *Step) printed() v1alpha1.RestoreAction {
	a := v1alpha1.RestoreAction{Verb: string(s.Verb), Object: s.Object,
		Owners: []v1alpha1.RestoredOwner{}, Notes: s.Notes}
	for _, r := range slices.Concat(s.References, s.Late) {
		a.Owners = append(a.Owners, v1alpha1.RestoredOwner{Kind: r.Kind, Name: r.Name, ArchivedUID: string(r.UID),
			UID: r.NewUID})
	}
	return a
}
