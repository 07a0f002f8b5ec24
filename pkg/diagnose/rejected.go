package diagnose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// deletion is why the server would not let anybody delete an object.
type deletion struct {
	once     sync.Once
	id       graph.ID
	findings []finding
	// untried is why the server was not asked, as a clause; empty if it was.
	untried string
}

// deletions are what was asked of the server. Of the objects of a type and namespace only so many are asked about: thousands can wait to be deleted.
type deletions struct {
	own   map[graph.ID]*deletion
	first map[place]*deletion
	n     map[place]int
}

func newDeletions() deletions {
	return deletions{own: map[graph.ID]*deletion{}, first: map[place]*deletion{}, n: map[place]int{}}
}

// deletionOf returns the deletion of an object: its own, or beyond the bound the first of its type and namespace.
func (e *refusal) deletionOf(id graph.ID) *deletion {
	if d := e.deletions.own[id]; d != nil {
		return d
	}
	t, _ := e.Graph.Type(id)
	at := place{t, e.Graph.Namespace(id)}
	if n := e.deletions.n[at]; n == e.limits.looks || n > 0 && len(e.deletions.own) >= e.limits.deletions {
		e.sampled[id] = true
		return e.deletions.first[at]
	}
	d := &deletion{id: id}
	if e.deletions.n[at] == 0 {
		e.deletions.first[at] = d
	}
	e.deletions.n[at]++
	e.deletions.own[id] = d
	return d
}

// rejected returns why the server would not let anybody delete an object.
func (e *refusal) rejected(ctx context.Context, id graph.ID) []finding {
	d := e.deletionOf(id)
	d.once.Do(func() { e.try(ctx, d) })
	findings := slices.Clone(d.findings)
	if d.id != id {
		findings = withNote(d.findings, "like "+e.placed(d.id)+", which was examined")
	}
	for _, f := range d.findings {
		for _, user := range f.users {
			findings = append(findings, behind(e.Graph.Ref(user), e.causes(ctx, user))...)
		}
	}
	return findings
}

// untriedDeletion says why rejected does not know, as the server was not asked; nothing if it was.
func (e *refusal) untriedDeletion(id graph.ID) []v1alpha1.Observation {
	if why := e.deletionOf(id).untried; why != "" {
		return observed("whether the server would accept a DELETE was not tried, because " + why)
	}
	return nil
}

// try finds out why the server would not let anybody delete this very object. The server is asked to, as a dry run.
func (e *refusal) try(ctx context.Context, d *deletion) {
	ref := e.Graph.Ref(d.id)
	t, ok := e.Graph.Type(d.id)
	if !ok || ref.UID == "" {
		return
	}
	w := admission.Of(admissionv1.Delete, t, ref.Namespace, ref.Name)
	var err error
	if e.noDryRun {
		err = e.client.MayDryRun(ctx, t, ref.Namespace, ref.Name)
	}
	if err == nil {
		err = e.tries.send(ctx, e, w, func(ctx context.Context) error {
			_, err := e.client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, cluster.DeleteOptions{Policy: "Background", DryRun: true})
			return err
		})
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	switch unasked := cluster.Unasked(err); {
	case unasked != nil && !unasked.Refused:
		d.untried, err = unasked.Because, errUntried
	case errors.Is(err, errUntried) && e.noDryRun:
		d.untried = "no dry run was to be sent"
	case errors.Is(err, errUntried):
		d.untried = "a webhook does not answer"
	}
	d.findings = e.rejection(ctx, d.id, w, err)
}

// rejection returns what it means that the server has not accepted a deletion.
func (e *refusal) rejection(ctx context.Context, id graph.ID, w admission.Write, err error) []finding {
	ref := e.Graph.Ref(id)
	if o, unread := e.object(ctx, id); unread == nil {
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
	if findings := e.conversions(ctx, err.Error()); len(findings) > 0 {
		return findings
	}
	about := v1alpha1.ObjectRef(ref)
	return []finding{{
		code: DeletionRejected, about: &about, evidence: observed(fmt.Sprintf("the server answers a DELETE of it: %v", err)),
		remedy: "Do what the server says.", commands: []step{command("kubectl", "delete", "OBJECT", "--dry-run=server").doing("asks the server again, without deleting it")},
	}}
}
