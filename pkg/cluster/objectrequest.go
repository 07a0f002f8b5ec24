package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ObjectRequest names objects of one type in one namespace that are wanted whole.
type ObjectRequest struct {
	Type      graph.Type
	Namespace string
	Names     []string
	// Total is how many objects of the type the namespace has, as far as is known. A list of many
	// for the sake of few is not worth it.
	Total int
	// Metadata says to read no more of the objects than that.
	Metadata bool

	selected Selection
}

// UnreadError is an object, or the list in which it is, that could not be read.
type UnreadError struct {
	Type graph.Type
	// Name is empty for a list.
	Namespace, Name string
	Err             error
}

// Error names the object and says what the server, or the connection, has said.
func (e *UnreadError) Error() string {
	what := e.Type.GroupResource().String()
	if e.Name != "" {
		what += fmt.Sprintf(" %q", e.Name)
	}
	if e.Namespace != "" {
		what += fmt.Sprintf(" in namespace %q", e.Namespace)
	}
	return "reading " + what + ": " + e.Err.Error()
}

// Unwrap returns what the server, or the connection, has said.
func (e *UnreadError) Unwrap() error { return e.Err }

// ForEachObject reads objects live with all that the server has of them, in the version of their
// type, and calls f with each, from several goroutines. An object that is not there is left out;
// one whose list had to begin again comes twice. Whether an object still has the uid that is meant
// is for f to see. It ends with the first error: an UnreadError, or what f returned.
func (c *Client) ForEachObject(ctx context.Context, requests []ObjectRequest,
	f func(*unstructured.Unstructured) error) error {
	return EachUntil(ctx, c, objectReads(requests), func(ctx context.Context, _ int, r objectRead) error {
		return c.readObject(ctx, r, f)
	})
}

// TryObjects is ForEachObject for who goes on without what cannot be read: failed is called with
// that, and ends it with the error that it returns. It calls f with the type of the object, too.
func (c *Client) TryObjects(ctx context.Context, requests []ObjectRequest,
	f func(graph.Type, *unstructured.Unstructured) error, failed func(*UnreadError) error) error {
	return EachUntil(ctx, c, objectReads(requests), func(ctx context.Context, _ int, r objectRead) error {
		err := c.readObject(ctx, r, func(o *unstructured.Unstructured) error { return f(r.Type, o) })
		if unread, is := errors.AsType[*UnreadError](err); is {
			return failed(unread)
		}
		return err
	})
}

// objectRead is a read of one object, or of several by a list if it has no name.
type objectRead struct {
	ObjectRequest
	name string
}

// objectReads are a list of all objects of a type in a namespace, or a read of each that is wanted,
// whichever costs less.
func objectReads(requests []ObjectRequest) []objectRead {
	var all []objectRead
	for _, r := range requests {
		if worthAList(len(r.Names), r.Total) {
			all = append(all, objectRead{r, ""})
			continue
		}
		for _, name := range r.Names {
			all = append(all, objectRead{r, name})
		}
	}
	return all
}

// readObject reads what a read is of. The error is an UnreadError, or what f returned.
func (c *Client) readObject(ctx context.Context, r objectRead, f func(*unstructured.Unstructured) error) error {
	if r.name == "" {
		return c.listObjects(ctx, r.ObjectRequest, f)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	get := c.GetObject
	if r.Metadata {
		get = c.GetObjectMeta
	}
	o, err := get(ctx, r.Type, r.Namespace, r.name)
	switch {
	case IsAbsent(err, r.Type, r.name):
		return nil
	case err != nil:
		return &UnreadError{r.Type, r.Namespace, r.name, err}
	}
	return f(o)
}

const (
	// singleReads is how many objects are asked for one by one whatever a list would cost.
	singleReads = 4
	// perRead is how many objects of a list cost about as much as one read.
	perRead = 10
)

// worthAList reports whether a list of all objects of a type in a namespace is cheaper than one
// read for each that is wanted.
func worthAList(wanted, all int) bool { return wanted > singleReads && wanted*perRead >= all }

// RequestObjects asks for objects of a graph: a request for each type and namespace, in the order
// in which they come.
func RequestObjects(g *graph.Graph, ids []graph.ID) []ObjectRequest {
	var requests []ObjectRequest
	for _, of := range groupObjects(g, ids) {
		r := ObjectRequest{Type: of.Type, Namespace: of.namespace, Total: of.total}
		for _, id := range of.ids {
			r.Names = append(r.Names, g.Name(id))
		}
		requests = append(requests, r)
	}
	return requests
}

// RequestMetadata is RequestObjects for the metadata of objects alone.
func RequestMetadata(g *graph.Graph, ids []graph.ID) []ObjectRequest {
	requests := RequestObjects(g, ids)
	for i := range requests {
		requests[i].Metadata = true
	}
	return requests
}

// objectGroup are objects of one type in one namespace, and total is how many of the type there are.
type objectGroup struct {
	graph.Type
	namespace string
	ids       []graph.ID
	total     int
}

// groupObjects groups objects of a graph by type and namespace, in the order in which they come.
func groupObjects(g *graph.Graph, ids []graph.ID) []objectGroup {
	type key struct {
		t         graph.Type
		namespace string
	}
	at := map[key]int{}
	var groups []objectGroup
	for _, id := range ids {
		t, _ := g.Type(id)
		of := key{t, g.Namespace(id)}
		i, known := at[of]
		if !known {
			i = len(groups)
			at[of] = i
			groups = append(groups, objectGroup{Type: t, namespace: of.namespace})
		}
		groups[i].ids = append(groups[i].ids, id)
	}
	if len(groups) == 0 {
		return nil
	}
	for id := range g.IDs() {
		if t, ok := g.Type(id); ok && g.Observed(id) {
			if i, wanted := at[key{t, g.Namespace(id)}]; wanted {
				groups[i].total++
			}
		}
	}
	return groups
}

// Labels reads the labels of objects of a graph live, as metadata. An object without labels has an
// empty set; one that could not be read, or that has another uid by now, has none: nothing is known
// of its labels. The error is that ctx has ended.
func (c *Client) Labels(ctx context.Context, g *graph.Graph, ids []graph.ID) (map[graph.ID]map[string]string, error) {
	wanted := make(map[string]graph.ID, len(ids))
	for _, id := range ids {
		wanted[g.Ref(id).UID] = id
	}
	var mu sync.Mutex
	all := make(map[graph.ID]map[string]string, len(ids))
	return all, c.TryObjects(ctx, RequestMetadata(g, ids), func(_ graph.Type, o *unstructured.Unstructured) error {
		mu.Lock()
		defer mu.Unlock()
		if id, ok := wanted[string(o.GetUID())]; ok {
			all[id] = o.GetLabels()
		}
		return nil
	}, func(*UnreadError) error { return context.Cause(ctx) })
}
