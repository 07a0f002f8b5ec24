package refusal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Deletion is why the server would not let anybody delete an object.
type Deletion struct {
	once     sync.Once
	ID       graph.ID
	findings []core.Finding
	// untried is why the server was not asked, as a clause; empty if it was.
	untried string
}

// deletions are what was asked of the server. Of the objects of a type and namespace only so many are asked about: thousands can wait to be deleted.
type deletions struct {
	own   map[graph.ID]*Deletion
	first map[core.Place]*Deletion
	n     map[core.Place]int
}

func newDeletions() deletions {
	return deletions{own: map[graph.ID]*Deletion{}, first: map[core.Place]*Deletion{}, n: map[core.Place]int{}}
}

// DeletionOf returns the deletion of an object: its own, or beyond the bound the first of its type and namespace.
func (e *Examiner) DeletionOf(id graph.ID) *Deletion {
	if d := e.deletions.own[id]; d != nil {
		return d
	}
	at, _ := e.PlaceOf(id)
	if n := e.deletions.n[at]; n == e.Limits.Looks || n > 0 && len(e.deletions.own) >= e.Limits.Deletions {
		e.Sampled[id] = true
		return e.deletions.first[at]
	}
	d := &Deletion{ID: id}
	if e.deletions.n[at] == 0 {
		e.deletions.first[at] = d
	}
	e.deletions.n[at]++
	e.deletions.own[id] = d
	return d
}

// Rejected returns why the server would not let anybody delete an object.
func (e *Examiner) Rejected(ctx context.Context, id graph.ID) []core.Finding {
	d := e.DeletionOf(id)
	e.Try(ctx, d)
	findings := slices.Clone(d.findings)
	if d.ID != id {
		findings = core.WithNote(d.findings, "like "+e.Placed(d.ID)+", which was examined")
	}
	for _, f := range d.findings {
		for _, user := range f.Users {
			findings = append(findings, core.Behind(e.Graph.Ref(user), e.Causes(ctx, user))...)
		}
	}
	return findings
}

// UntriedDeletion says why rejected does not know, as the server was not asked; nothing if it was.
func (e *Examiner) UntriedDeletion(id graph.ID) []v1alpha1.Observation {
	if why := e.DeletionOf(id).untried; why != "" {
		return core.Observed("whether the server would accept a DELETE was not tried, because " + why)
	}
	return nil
}

// Try finds out once why the server would not let anybody delete this very object. The server is asked to, as a dry run.
func (e *Examiner) Try(ctx context.Context, d *Deletion) { d.once.Do(func() { e.ask(ctx, d) }) }

func (e *Examiner) ask(ctx context.Context, d *Deletion) {
	ref := e.Graph.Ref(d.ID)
	t, ok := e.Graph.Type(d.ID)
	if !ok || ref.UID == "" {
		return
	}
	w := admission.Of(admissionv1.Delete, t, ref.Namespace, ref.Name)
	var err error
	if e.NoDryRun {
		err = e.Client.MayDryRun(ctx, t, ref.Namespace, ref.Name)
	}
	if err == nil {
		err = e.Tries.send(ctx, e, w, func(ctx context.Context) error {
			_, err := e.Client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, cluster.DeleteOptions{Policy: "Background", DryRun: true})
			return err
		})
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	switch unasked := cluster.Unasked(err); {
	case unasked != nil && !unasked.Refused:
		d.untried, err = unasked.Because, errUntried
	case errors.Is(err, errUntried) && e.NoDryRun:
		d.untried = "no dry run was to be sent"
	case errors.Is(err, errUntried):
		d.untried = "a webhook does not answer"
	}
	d.findings = e.rejection(ctx, d.ID, w, err)
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
	about := v1alpha1.ObjectRef(ref)
	return []core.Finding{{
		Code: core.DeletionRejected, About: &about, Evidence: core.Observed(fmt.Sprintf("the server answers a DELETE of it: %v", err)),
		Remedy: "Do what the server says.", Commands: []core.Step{core.Command("kubectl", "delete", "OBJECT", "--dry-run=server").Doing("asks the server again, without deleting it")},
	}}
}
