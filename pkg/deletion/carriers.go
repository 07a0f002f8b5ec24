package deletion

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// carrier is an object with a finalizer of which a pack says what its actor does.
type carrier struct {
	object    graph.Ref
	finalizer string
	known     *finalizer.Known
}

func (c carrier) actor() actor.Actor {
	return actor.Actor{Finalizer: c.finalizer, Known: *c.known, IsKnown: true}
}

// carriers are those of some finalizers of which something is asked, by object. What is asked is the
// same of all objects of a kind.
func carriers(g *graph.Graph, known *finalizer.Registry, all iter.Seq2[graph.ID, []string],
	asked func(carrier) bool) map[graph.ID][]carrier {
	by := map[graph.ID][]carrier{}
	entries := map[[3]string]*finalizer.Known{}
	for id, names := range all {
		ref := g.Ref(id)
		for _, name := range names {
			class := [3]string{ref.Group(), ref.Kind, name}
			entry, looked := entries[class]
			if !looked {
				if k, ok := known.Lookup(name, class[0], class[1]); ok && asked(carrier{ref, name, &k}) {
					entry = &k
				}
				entries[class] = entry
			}
			if entry != nil {
				by[id] = append(by[id], carrier{ref, name, entry})
			}
		}
	}
	return by
}

// question is something that is asked of objects as they are read.
type question interface {
	asked() []graph.ID
	hear(ctx context.Context, id graph.ID, o *unstructured.Unstructured)
	miss(id graph.ID)
}

// answers are what each of some objects says to one question.
type answers[T any] struct {
	ids []graph.ID
	ask func(ctx context.Context, id graph.ID, o *unstructured.Unstructured) T

	mu sync.Mutex
	by map[graph.ID]T
	// unread are those that could not be read. One that is gone, or another by now, is none of them.
	unread map[graph.ID]bool
}

// newAnswers asks objects, from several goroutines.
func newAnswers[T any](ids []graph.ID,
	ask func(context.Context, graph.ID, *unstructured.Unstructured) T) *answers[T] {
	return &answers[T]{ids: ids, ask: ask, by: map[graph.ID]T{}, unread: map[graph.ID]bool{}}
}

func (a *answers[T]) asked() []graph.ID { return a.ids }

func (a *answers[T]) hear(ctx context.Context, id graph.ID, o *unstructured.Unstructured) {
	said := a.ask(ctx, id, o)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by[id] = said
}

func (a *answers[T]) miss(id graph.ID) { a.unread[id] = true }

// survey reads the objects of some questions, each once for all of them. The error is the end of ctx.
func survey(ctx context.Context, client *cluster.Client, g *graph.Graph, questions ...question) error {
	about := map[graph.ID][]question{}
	for _, q := range questions {
		for _, id := range q.asked() {
			about[id] = append(about[id], q)
		}
	}
	ids := slices.Sorted(maps.Keys(about))
	var mu sync.Mutex
	heard := map[graph.ID]bool{}
	_ = client.TryObjects(ctx, cluster.RequestObjects(g, ids), func(_ graph.Type, o *unstructured.Unstructured) error {
		id, there := g.Lookup(string(o.GetUID()))
		if !there { // another can have its name
			return nil
		}
		for _, q := range about[id] {
			q.hear(ctx, id, o)
		}
		mu.Lock()
		defer mu.Unlock()
		heard[id] = true
		return nil
	}, func(err *cluster.UnreadError) error {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			if !heard[id] && isUnread(g, id, err) {
				for _, q := range about[id] {
					q.miss(id)
				}
			}
		}
		return nil
	})
	return context.Cause(ctx)
}

// isUnread reports whether an object is the one that could not be read, or in the list.
func isUnread(g *graph.Graph, id graph.ID, e *cluster.UnreadError) bool {
	t, _ := g.Type(id)
	return t == e.Type && g.Namespace(id) == e.Namespace && (e.Name == "" || e.Name == g.Name(id))
}
