package encode

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// aftermath are what follows when the object of a candidate is gone, and the volumes whose data are
// destroyed.
func aftermath(c *unfinalize.Candidate) ([]v1alpha1.Follower, []v1alpha1.Disk) {
	after := c.After()
	if after == nil {
		return nil, nil
	}
	var follows []v1alpha1.Follower
	for _, ref := range after.Deleted {
		follows = append(follows, v1alpha1.Follower{Object: Ref(ref), Of: Ref(c.Ref)})
	}
	return follows, after.Disks
}

// stranded are what is left in a namespace.
func stranded(c *unfinalize.Candidate) []v1alpha1.ObjectRef {
	e := c.Stranded()
	if e == nil {
		return nil
	}
	var objects []v1alpha1.ObjectRef
	for _, r := range e.Remaining {
		objects = append(objects, Ref(r))
	}
	return objects
}

// methodVerb is the API server's verb of the first write of a method.
func methodVerb(method unfinalize.Method) string {
	switch method {
	case unfinalize.ByPolicy, unfinalize.ByDelete:
		return "delete"
	case unfinalize.ByFinalizing:
		return "update"
	}
	return "patch"
}

func verdict(c *unfinalize.Candidate, v unfinalize.Assessment,
	overrides unfinalize.Overrides) v1alpha1.FinalizerVerdict {
	out := v1alpha1.FinalizerVerdict{
		Object: Ref(c.Ref), Finalizer: v.Name, Field: string(v.Field), Verdict: string(v.Method), Note: v.Note,
		Actor: v.Actor.Who, Life: string(v.Actor.Life), Evidence: v.Actor.Says(), Outside: status.Outside(c.Object),
	}
	if v.Actor.IsKnown {
		k := v.Actor.Known
		out.Risk, out.Polarity, out.Leaks, out.Completion = string(k.Risk), string(k.Polarity), k.IfRemoved, k.OnCompletion()
	}
	if len(v.Against(overrides)) > 0 {
		out.Verdict = "Refused"
	}
	for _, r := range v.Refusals {
		out.Refusals = append(out.Refusals, v1alpha1.Refusal{
			Reason: string(r.Code), Because: r.Because, Override: string(r.Override), Overridden: overrides.Covers(r),
			Hint: r.Hint,
		})
	}
	return out
}
