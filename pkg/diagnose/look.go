package diagnose

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/finalizers"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// look is what was found at one object: what the server has of it, what would refuse an update, and who should remove each of its finalizers.
type look struct {
	once sync.Once
	id   graph.ID
	// object is the object as it was read live, nil if it is gone or could not be read.
	object      *unstructured.Unstructured
	byFinalizer map[string][]core.Finding
	// refused is what stands in the way of removing them, whoever tries.
	refused []core.Finding
}

// of returns what was found of one finalizer.
func (l *look) of(name string) []core.Finding { return l.byFinalizer[name] }

// looks are what was found at objects. Of objects of the same type and namespace with the same finalizers only so many are looked at.
type looks struct {
	own    map[graph.ID]*look
	groups map[string]*lookGroup
}

// lookGroup counts those of a group that are looked at, of which first is the first.
type lookGroup struct {
	first *look
	n     int
}

func newLooks() looks { return looks{own: map[graph.ID]*look{}, groups: map[string]*lookGroup{}} }

// like returns what was found at an object, and looks if nobody has yet. For an object beyond the bound it is what was found at another that is like it.
func (e *examiner) like(ctx context.Context, id graph.ID) *look {
	l := e.lookOf(id)
	if l.id == id {
		l.once.Do(func() { e.look(ctx, l) })
		return l
	}
	l.once.Do(func() { e.look(ctx, l) })
	sample := &look{id: l.id, object: l.object, refused: l.refused, byFinalizer: map[string][]core.Finding{}}
	for name, findings := range l.byFinalizer {
		sample.byFinalizer[name] = core.WithNote(findings, "like "+e.Placed(l.id)+", which was examined")
	}
	return sample
}

// lookOf returns the look of an object: its own, or beyond the bound the first of its group.
func (e *examiner) lookOf(id graph.ID) *look {
	if l := e.looks.own[id]; l != nil {
		return l
	}
	ref := e.Graph.Ref(id)
	key := strings.Join(append([]string{ref.APIVersion, ref.Resource, ref.Namespace}, e.Graph.Finalizers(id)...), "\x00")
	if e.Graph.DeletionTimestamp(id) == 0 { // which is not tried
		key = "alive\x00" + key
	}
	g := e.looks.groups[key]
	if g == nil {
		g = &lookGroup{}
		e.looks.groups[key] = g
	}
	if g.n == e.Limits.Looks {
		e.Sampled[id] = true
		return g.first
	}
	l := &look{id: id}
	if g.n == 0 {
		g.first = l
	}
	g.n++
	e.looks.own[id] = l
	return l
}

// look reads the object, tries to remove its finalizers without doing it, and finds out who should. Of an object that is not being deleted it finds out
// only that.
func (e *examiner) look(ctx context.Context, l *look) {
	ref := e.Graph.Ref(l.id)
	o, err := e.Object(ctx, l.id)
	if err == nil && o == nil || o != nil && string(o.GetUID()) != ref.UID {
		return // it is gone, and nothing holds it
	}
	l.byFinalizer = map[string][]core.Finding{}
	names := core.Others(e.Graph.Finalizers(l.id))
	if err != nil {
		for _, name := range names {
			if l.byFinalizer[name] = e.refusal.Conversions(ctx, err.Error()); len(l.byFinalizer[name]) == 0 {
				l.byFinalizer[name] = []core.Finding{finalizers.Unread(name, e.briefly(l.id, err))}
			}
		}
		return
	}
	l.object = o
	if e.Graph.DeletionTimestamp(l.id) != 0 {
		l.refused = e.refusal.Refusals(ctx, o, names)
	}
	if rest := names[min(len(names), e.Limits.Finalizers):]; len(rest) > 0 {
		l.byFinalizer[rest[0]] = []core.Finding{finalizers.Unexamined(rest)}
		names = names[:e.Limits.Finalizers]
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return
		}
		l.byFinalizer[name] = behindObstacles(e.finalizers.Because(ctx, o, name, l.refused), l.refused)
	}
}

// briefly is an error without RBAC's text, which names each object and says no more.
func (e *examiner) briefly(id graph.ID, err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	t, _ := e.Graph.Type(id)
	return errors.New(deniedTo(cluster.Access{Verb: "get", Type: t, Namespace: e.Graph.Namespace(id)}, cluster.Review{}))
}

// behindObstacles puts what is found of a finalizer behind what refuses every update: it comes up when that is out of the way.
func behindObstacles(findings, refused []core.Finding) []core.Finding {
	if len(refused) == 0 {
		return findings
	}
	out := slices.Clone(findings)
	for i, f := range out {
		if !slices.ContainsFunc(refused, func(r core.Finding) bool { return r.Key() == f.Key() }) {
			out[i].After++
		}
	}
	return out
}

// removes returns who should remove a finalizer.
func (e *examiner) removes(ctx context.Context, id graph.ID, finalizer string) []core.Finding {
	return core.Found(e.Graph.Ref(id), e.like(ctx, id).of(finalizer)...)
}
