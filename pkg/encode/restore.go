package encode

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// RestorePlan returns the plan of a restore as it is printed for programs.
func RestorePlan(p *restore.Plan) *v1alpha1.RestorePlan {
	out := &v1alpha1.RestorePlan{
		TypeMeta: v1alpha1.TypeMeta("RestorePlan"), Archive: p.File, Actions: []v1alpha1.RestoreAction{},
		Left: restoreLeft(p.Left), Held: restoreLeft(p.Held),
		Forbidden: []v1alpha1.Forbidden{}, Complete: len(p.Held) == 0,
	}
	for i := range p.Steps {
		out.Actions = append(out.Actions, restoreAction(&p.Steps[i]))
	}
	for _, f := range p.Forbidden {
		out.Forbidden = append(out.Forbidden, v1alpha1.Forbidden{
			Object: v1alpha1.ObjectRef{APIVersion: f.Type.APIVersion(), Kind: f.Type.Kind, Resource: f.Type.Resource,
				Namespace: f.Namespace, Name: f.Name},
			Verb: f.Verb, Reason: f.Reason,
		})
	}
	return out
}

// RestoreResult returns what came of a restore as it is printed for programs.
func RestoreResult(p *restore.Plan, r *restore.Result) *v1alpha1.RestoreResult {
	out := &v1alpha1.RestoreResult{
		TypeMeta: v1alpha1.TypeMeta("RestoreResult"), Done: []v1alpha1.RestoreAction{}, Failed: []v1alpha1.RestoreFailed{},
		Left: restoreLeft(p.Left), Held: restoreLeft(p.Held), Complete: len(p.Held) == 0 && len(r.Failed) == 0,
	}
	for _, d := range r.Done {
		a := restoreAction(d.Step)
		a.UID = d.UID
		a.Notes = slices.Concat(a.Notes, d.Notes)
		out.Done = append(out.Done, a)
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, v1alpha1.RestoreFailed{Action: restoreAction(f.Step), Error: f.Err.Error()})
	}
	for _, s := range r.Unasked {
		out.Unasked = append(out.Unasked, restoreAction(s))
	}
	return out
}

func restoreAction(s *restore.Step) v1alpha1.RestoreAction {
	a := v1alpha1.RestoreAction{Verb: string(s.Verb), Object: v1alpha1.ObjectRef(s.Object),
		Owners: []v1alpha1.RestoredOwner{}, Notes: s.Notes}
	for _, r := range slices.Concat(s.References, s.Late) {
		a.Owners = append(a.Owners, v1alpha1.RestoredOwner{Kind: r.Kind, Name: r.Name, ArchivedUID: string(r.UID),
			UID: r.NewUID})
	}
	return a
}

func restoreLeft(all []restore.Left) []v1alpha1.Survivor {
	out := []v1alpha1.Survivor{}
	for _, l := range all {
		out = append(out, v1alpha1.Survivor{Object: v1alpha1.ObjectRef(l.Object), Reason: string(l.Reason),
			Because: l.Because})
	}
	return out
}
