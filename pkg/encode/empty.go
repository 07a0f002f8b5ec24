package encode

import "github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"

// emptyPlan is a Plan of nothing, with the lists that are always there.
func emptyPlan() *v1alpha1.Plan {
	return &v1alpha1.Plan{
		TypeMeta: v1alpha1.TypeMeta("Plan"), Complete: true, Gaps: []v1alpha1.Gap{}, Roots: []v1alpha1.ObjectRef{},
		Actions: []v1alpha1.Action{},
		Deleted: []v1alpha1.ObjectRef{}, Survivors: []v1alpha1.Survivor{}, Blockers: []v1alpha1.Blocker{},
		Stuck:     []v1alpha1.Survivor{},
		Remaining: []v1alpha1.Survivor{}, NonBlocking: []v1alpha1.NonBlocking{}, Forbidden: []v1alpha1.Forbidden{},
	}
}

// emptyResult is a Result of nothing, with the lists that are always there.
func emptyResult() *v1alpha1.Result {
	return &v1alpha1.Result{
		TypeMeta: v1alpha1.TypeMeta("Result"), Complete: true, Gaps: []v1alpha1.Gap{}, Done: []v1alpha1.Action{},
		Failed:  []v1alpha1.FailedAction{},
		Skipped: []v1alpha1.SkippedObject{}, Orphaned: []v1alpha1.SkippedObject{}, Remaining: []v1alpha1.SkippedObject{},
	}
}
