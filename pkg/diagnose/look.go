package diagnose

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/finalizers"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// removes returns who should remove a finalizer of an object, and looks at the object if nobody has
// yet. What keeps the objects that whoever removes it waits for follows.
func (e *examiner) removes(ctx context.Context, id graph.ID, finalizer string) []core.Finding {
	l := e.lookOf(id)
	findings := core.Found(e.Graph.Ref(id), e.Like(e.look(ctx, l)[finalizer], id, l.ID)...)
	for _, f := range slices.Clone(findings) {
		for _, user := range f.Users {
			if _, known := e.settled[user]; !known && !e.ahead[user] {
				e.ahead[user] = true
				_ = e.lookAhead(ctx, []graph.ID{user}) // which fails with the context only
			}
			findings = append(findings, core.Behind(e.Graph.Ref(user), e.Causes(ctx, user))...)
		}
	}
	return findings
}

// looked is what was found at an object, by finalizer.
type looked = map[string][]core.Finding

// lookOf returns the object to look at: itself, or beyond the bound the first of those of its type
// and namespace with the same finalizers.
func (e *examiner) lookOf(id graph.ID) *core.Examined[looked] {
	ref := e.Graph.Ref(id)
	key := strings.Join(append([]string{ref.APIVersion, ref.Resource, ref.Namespace}, e.Graph.Finalizers(id)...), "\x00")
	if e.Graph.DeletionTimestamp(id) == 0 { // which is not tried
		key = "alive\x00" + key
	}
	l := e.looks.Of(id, key, func(n, _ int) bool { return n == e.Limits.Looks })
	if l.ID != id {
		e.Sampled[id] = true
	}
	return l
}

// look finds out once who should remove the finalizers of an object.
func (e *examiner) look(ctx context.Context, l *core.Examined[looked]) looked {
	return l.Once(func(id graph.ID) looked { return e.lookAt(ctx, id) })
}

// lookAt reads the object, tries to remove its finalizers without doing it, and finds out who
// should. Of an object that is not being deleted it finds out only that.
func (e *examiner) lookAt(ctx context.Context, id graph.ID) looked {
	ref := e.Graph.Ref(id)
	o, err := e.Object(ctx, id)
	if err == nil && o == nil || o != nil && string(o.GetUID()) != ref.UID {
		return nil // it is gone, and nothing holds it
	}
	all, names := looked{}, core.Others(e.Graph.Finalizers(id))
	if err != nil {
		for _, name := range names {
			if all[name] = e.refusal.Conversions(ctx, err.Error()); len(all[name]) == 0 {
				all[name] = []core.Finding{finalizers.Unread(name, e.briefly(id, err))}
			}
		}
		return all
	}
	var refused []core.Finding // whoever tries
	if e.Graph.DeletionTimestamp(id) != 0 {
		refused = e.refusal.Refusals(ctx, o, names)
	}
	if rest := names[min(len(names), e.Limits.Finalizers):]; len(rest) > 0 {
		all[rest[0]] = []core.Finding{finalizers.Unexamined(rest)}
		names = names[:e.Limits.Finalizers]
	}
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		all[name] = behindObstacles(e.finalizers.Because(ctx, o, name, refused), refused)
	}
	return all
}

// briefly is an error without RBAC's text, which names each object and says no more.
func (e *examiner) briefly(id graph.ID, err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	t, _ := e.Graph.Type(id)
	return cluster.MissingRight{Access: cluster.Access{Verb: "get", Type: t, Namespace: e.Graph.Namespace(id)}}
}

// behindObstacles puts what is found of a finalizer behind what refuses every update: it comes up
// when that is out of the way.
func behindObstacles(findings, refused []core.Finding) []core.Finding {
	return core.Each(findings, func(f *core.Finding) {
		if len(refused) > 0 && !slices.ContainsFunc(refused, func(r core.Finding) bool { return r.Key() == f.Key() }) {
			f.After++
		}
	})
}
