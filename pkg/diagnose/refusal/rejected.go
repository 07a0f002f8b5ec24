package refusal

import (
	"context"
	"errors"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Deletion is why the server would not let anybody delete an object.
type Deletion struct {
	findings []core.Finding
	// untried is why the server was not asked, as a clause; empty if it was.
	untried string
}

// DeletionOf returns the object to try to delete: itself, or beyond the bounds the first of its
// type and namespace, of which thousands can wait to be deleted.
func (e *Examiner) DeletionOf(id graph.ID) *core.Examined[Deletion] {
	at, _ := e.PlaceOf(id)
	d := e.deletions.Of(id, at, func(n, all int) bool { return n == e.Limits.Looks || n > 0 && all >= e.Limits.Deletions })
	if d.ID != id {
		e.Sampled[id] = true
	}
	return d
}

// Rejected returns why the server would not let anybody delete an object.
func (e *Examiner) Rejected(ctx context.Context, id graph.ID) []core.Finding {
	d := e.DeletionOf(id)
	own := e.Try(ctx, d).findings
	findings := slices.Clone(e.Like(own, id, d.ID))
	for _, f := range own {
		for _, user := range f.Users {
			findings = append(findings, core.Behind(e.Graph.Ref(user), e.Causes(ctx, user))...)
		}
	}
	return findings
}

// UntriedDeletion says why rejected does not know, as the server was not asked; nothing if it was.
func (e *Examiner) UntriedDeletion(ctx context.Context, id graph.ID) []v1alpha1.Observation {
	if why := e.Try(ctx, e.DeletionOf(id)).untried; why != "" {
		return core.Observed("whether the server would accept a DELETE was not tried, because " + why)
	}
	return nil
}

// Try finds out once why the server would not let anybody delete this very object. The server is
// asked to, as a dry run.
func (e *Examiner) Try(ctx context.Context, d *core.Examined[Deletion]) Deletion {
	return d.Once(func(id graph.ID) Deletion { return e.try(ctx, id) })
}

func (e *Examiner) try(ctx context.Context, id graph.ID) (d Deletion) {
	ref := e.Graph.Ref(id)
	t, ok := e.Graph.Type(id)
	if !ok || ref.UID == "" {
		return d
	}
	w := admission.Of(admissionv1.Delete, t, ref.Namespace, ref.Name)
	opts := cluster.DeleteOptions{Policy: "Background", DryRun: true}
	if e.Graph.DeletionTimestamp(id) != 0 && core.OfType(cluster.Pods)(ref) {
		opts.GracePeriodSeconds = new(int64) // of its own there is nothing left to ask
	}
	var err error
	if e.NoDryRun {
		err = e.Client.MayDryRun(ctx, t, ref.Namespace, ref.Name)
	}
	if err == nil {
		err = e.Tries.send(ctx, e, w, func(ctx context.Context) error {
			_, err := e.Client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, opts)
			return err
		})
	}
	if err == nil || ctx.Err() != nil {
		return d
	}
	switch unasked := cluster.Unasked(err); {
	case unasked != nil && !unasked.Refused:
		d.untried, err = unasked.Because, errUntried
	case errors.Is(err, errUntried) && e.NoDryRun:
		d.untried = "no dry run was to be sent"
	case errors.Is(err, errUntried):
		d.untried = "a webhook does not answer"
	}
	d.findings = e.rejection(ctx, id, w, err)
	return d
}

// rejection returns what it means that the server has not accepted a deletion.
func (e *Examiner) rejection(ctx context.Context, id graph.ID, w admission.Write, err error) []core.Finding {
	ref := e.Graph.Ref(id)
	if o, unread := e.Object(ctx, id); unread == nil {
		if o == nil || string(o.GetUID()) != ref.UID {
			return nil // it is gone
		}
		w.Object, w.Outline = o, false
		if errors.Is(err, errUntried) {
			return e.untried(ctx, w, "", nil)
		}
		if findings, understood := e.refusal(ctx, w, err); understood {
			return findings // whoever denies it may say so with any code, that of a conflict too
		}
	}
	if errors.Is(err, errUntried) || cluster.IsAbsent(err, w.Type, ref.Name) || apierrors.IsConflict(err) {
		return nil
	}
	if findings := e.Conversions(ctx, err.Error()); len(findings) > 0 {
		return findings
	}
	return []core.Finding{{
		Code: core.DeletionRejected, About: new(ref),
		Evidence: core.Seen("the server answers a DELETE of it: %v", err),
		Commands: []core.Step{core.Command("kubectl", "delete", "OBJECT",
			"--dry-run=server").Doing("asks the server again, without deleting it")},
	}}
}
