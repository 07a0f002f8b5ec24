package diagnose

import (
	"context"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// like is what holds all objects of a type and namespace that carry the same finalizers. One of them is read and tried; the others would show the
// same, and there can be thousands.
type like struct {
	once sync.Once
	id   graph.ID // the one that is looked at
	// whole is the object as it was read live, nil if it is gone or could not be read.
	whole       *unstructured.Unstructured
	byFinalizer map[string][]finding
	// refused is what stands in the way of taking them off, whoever tries.
	refused []finding
}

type likes map[string]*like

// of returns what was found of one finalizer.
func (l *like) of(name string) []finding { return l.byFinalizer[name] }

// like returns what the object is looked at with, and looks if nobody has yet.
func (e *examiner) like(ctx context.Context, id graph.ID) *like {
	l := e.likeOf(id)
	l.once.Do(func() { e.look(ctx, l) })
	return l
}

func (e *examiner) likeOf(id graph.ID) *like {
	ref := e.Graph.Ref(id)
	key := strings.Join(append([]string{ref.APIVersion, ref.Resource, ref.Namespace}, e.Graph.Finalizers(id)...), "\x00")
	l := e.likes[key]
	if l == nil {
		l = &like{id: id}
		e.likes[key] = l
	}
	return l
}

// readAhead looks at one of each side by side: the examination itself goes from object to object.
func (e *examiner) readAhead(ctx context.Context, ids []graph.ID) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(e.client.Concurrency())
	seen := map[*like]bool{}
	for _, id := range ids {
		if e.Graph.Deleted(id) == 0 || len(others(e.Graph.Finalizers(id))) == 0 {
			continue
		}
		if l := e.likeOf(id); !seen[l] {
			seen[l] = true
			group.Go(func() error {
				l.once.Do(func() { e.look(ctx, l) })
				return ctx.Err()
			})
		}
	}
	return group.Wait()
}

// look reads the object, tries to take its finalizers off without doing it, and finds out who should.
func (e *examiner) look(ctx context.Context, l *like) {
	ref := e.Graph.Ref(l.id)
	t, ok := e.Graph.Type(l.id)
	if !ok {
		return
	}
	l.byFinalizer = map[string][]finding{}
	o, err := e.reader.Read(ctx, t, ref.Namespace, ref.Name)
	if err == nil && o == nil || o != nil && string(o.GetUID()) != ref.UID {
		return // it is gone, and nothing holds it
	}
	names := others(e.Graph.Finalizers(l.id))
	if err != nil {
		for _, name := range names {
			if l.byFinalizer[name] = e.conversions(ctx, err.Error()); len(l.byFinalizer[name]) == 0 {
				l.byFinalizer[name] = []finding{unread(name, err)}
			}
		}
		return
	}
	l.whole = o
	l.refused = e.refusals(ctx, o, names)
	for _, name := range names {
		l.byFinalizer[name] = e.because(ctx, o, name, l.refused)
	}
}
