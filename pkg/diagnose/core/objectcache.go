package core

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// objectCache keeps objects that were read live, each once. It is safe for concurrent use.
type objectCache struct {
	mu   sync.Mutex
	read map[graph.ID]objectRead
	// forbidden are the types that the user may not read in a namespace: what the server said of
	// one is true of all.
	forbidden map[Place]error
}

type objectRead struct {
	o   *unstructured.Unstructured
	err error
}

// Place is a type in a namespace.
type Place struct {
	Type      graph.Type
	Namespace string
}

// PlaceOf is the place of an object; false if it was not seen.
func (e *Examination) PlaceOf(id graph.ID) (Place, bool) {
	t, ok := e.Graph.Type(id)
	return Place{t, e.Graph.Namespace(id)}, ok && e.Graph.Observed(id)
}

func newObjectCache() *objectCache {
	return &objectCache{read: map[graph.ID]objectRead{}, forbidden: map[Place]error{}}
}

func (w *objectCache) known(id graph.ID, at Place) (objectRead, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := w.read[id]; ok {
		return r, true
	}
	err, ok := w.forbidden[at]
	return objectRead{err: err}, ok
}

func (w *objectCache) keep(id graph.ID, at Place, r objectRead) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read[id] = r
	if apierrors.IsForbidden(r.err) {
		w.forbidden[at] = r.err
	}
}

// Object reads an object live, nil if it is proven to be absent. It is read once.
func (e *Examination) Object(ctx context.Context, id graph.ID) (*unstructured.Unstructured, error) {
	t, ok := e.Graph.Type(id)
	if !ok {
		return nil, nil
	}
	ref := e.Graph.Ref(id)
	at := Place{t, ref.Namespace}
	r, ok := e.objects.known(id, at)
	if !ok {
		r.o, r.err = e.Reader.GetLive(ctx, t, ref.Namespace, ref.Name)
		e.objects.keep(id, at, r)
	}
	return r.o, r.err
}

// ReadObjects reads objects side by side: of each place one, which tells whether the user may, and
// then the others, by a list where that is cheaper. What cannot be read is left for whoever needs
// it.
func (e *Examination) ReadObjects(ctx context.Context, ids []graph.ID) {
	byPlace := map[Place][]graph.ID{}
	for _, id := range ids {
		if t, ok := e.Graph.Type(id); ok {
			at := Place{t, e.Graph.Namespace(id)}
			byPlace[at] = append(byPlace[at], id)
		}
	}
	var group errgroup.Group
	group.SetLimit(e.Client.Concurrency())
	for at, ids := range byPlace {
		group.Go(func() error {
			if _, err := e.Object(ctx, ids[0]); err == nil && len(ids) > 1 && !cluster.MetadataOnly(at.Type) {
				e.readPlace(ctx, at, ids[1:])
			}
			return nil
		})
	}
	_ = group.Wait() // which nothing fails
}

// readPlace reads objects of one place.
func (e *Examination) readPlace(ctx context.Context, at Place, ids []graph.ID) {
	total := len(slices.Collect(e.Graph.OfType(at.Type.Group, at.Type.Resource, at.Namespace)))
	byName := make(map[string]graph.ID, len(ids))
	r := cluster.ObjectRequest{Type: at.Type, Namespace: at.Namespace, Total: total}
	for _, id := range ids {
		name := e.Graph.Name(id)
		byName[name] = id
		r.Names = append(r.Names, name)
	}
	// What it cannot read is asked for by itself then, and what is noted as a gap is what that
	// could not read.
	_ = e.Client.ForEachObject(ctx, []cluster.ObjectRequest{r}, func(o *unstructured.Unstructured) error {
		if id, ok := byName[o.GetName()]; ok {
			e.objects.keep(id, at, objectRead{o: o})
		}
		return nil
	})
}

// Own is an object itself, read whole, also where another was looked at for it; nil if it is gone
// or cannot be read.
func (e *Examination) Own(ctx context.Context, id graph.ID) *unstructured.Unstructured {
	o, err := e.Object(ctx, id)
	if err != nil || o == nil || string(o.GetUID()) != e.Graph.Ref(id).UID {
		return nil
	}
	return o
}
