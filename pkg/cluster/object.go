package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

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

// Located names an object as a sentence does: its kind, and its name with its namespace.
func Located(o *unstructured.Unstructured) string { return graph.RefOf(o).Located() }

// Place says where something was read: an object, and a field of it if one is given.
func Place(o *unstructured.Unstructured, field string) string {
	return strings.TrimSpace(Located(o) + " " + field)
}

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

// GetObject reads one object live with all that the server has of it, in the version of the type.
// The error is the server's, of which IsAbsent tells whether it proves that there is no such
// object, or says that the answer is about something else.
func (c *Client) GetObject(ctx context.Context, t graph.Type, namespace, name string) (*unstructured.Unstructured,
	error) {
	return c.getAs(ctx, t, namespace, name, acceptJSON)
}

// GetObjectMeta is GetObject for an object whose content may be secret: metadata only.
func (c *Client) GetObjectMeta(ctx context.Context, t graph.Type, namespace, name string) (*unstructured.Unstructured,
	error) {
	return c.getAs(ctx, t, namespace, name, acceptObject)
}

func (c *Client) getAs(ctx context.Context, t graph.Type, namespace, name, accept string) (*unstructured.Unstructured,
	error) {
	if err := checkName(t, name); err != nil {
		return nil, err
	}
	path := resourcePath(t, namespace, name)
	var raw json.RawMessage
	if err := getJSON(ctx, c.rest.Get().AbsPath(path...).WarningHandlerWithContext(quietWarnings{}), accept,
		&raw); err != nil {
		return nil, err
	}
	o, err := decodeObject(raw, t)
	if err == nil && o.GetName() != name {
		return nil, errAnother(name, o.GetName())
	}
	return o, err
}

// Selection restricts a list on the server. Empty selectors select all.
type Selection struct{ Labels, Fields string }

// param has a request ask for what is selected, and for the page of a token; for the first if that is
// empty.
func (s Selection) param(req *rest.Request, token string) {
	for name, value := range map[string]string{"labelSelector": s.Labels, "fieldSelector": s.Fields, "continue": token} {
		if value != "" {
			req.Param(name, value)
		}
	}
}

// ListObjectMetas is ListObjects for objects whose content may be secret: metadata only.
func (c *Client) ListObjectMetas(ctx context.Context, t graph.Type, namespace string,
	selected Selection) ([]*unstructured.Unstructured, error) {
	return c.listAs(ctx, ObjectRequest{Type: t, Namespace: namespace, selected: selected, Metadata: true})
}

// ListObjects reads the selected objects of a type live, in a namespace or everywhere, with all
// that the server has of them: for where there are few. The error is an UnreadError.
func (c *Client) ListObjects(ctx context.Context, t graph.Type, namespace string,
	selected Selection) ([]*unstructured.Unstructured, error) {
	return c.listAs(ctx, ObjectRequest{Type: t, Namespace: namespace, selected: selected})
}

func (c *Client) listAs(ctx context.Context, r ObjectRequest) ([]*unstructured.Unstructured, error) {
	seen := map[string]bool{} // a list that had to begin again shows objects twice
	var all []*unstructured.Unstructured
	if err := objectPages(ctx, c, r, func(raw *json.RawMessage) error {
		o, err := decodeObject(*raw, r.Type)
		if err == nil && !seen[string(o.GetUID())] {
			seen[string(o.GetUID())] = true
			all = append(all, o)
		}
		return err
	}); err != nil {
		return nil, err
	}
	return all, nil
}

// listObjects reads the wanted objects of a list. Decoding them, and what f does, take longer than
// the server does to send them, and are done side by side.
func (c *Client) listObjects(ctx context.Context, r ObjectRequest, f func(*unstructured.Unstructured) error) error {
	wanted := make(map[string]bool, len(r.Names))
	for _, name := range r.Names {
		wanted[name] = true
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	err := objectPages(ctx, c, r, func(raw *json.RawMessage) error {
		var it struct{ Metadata struct{ Name string } }
		if err := json.Unmarshal(*raw, &it); err != nil {
			return jsonError(err)
		}
		if !wanted[it.Metadata.Name] {
			return nil
		}
		group.Go(func() error {
			o, err := decodeObject(*raw, r.Type)
			if err != nil {
				return r.unread(err)
			}
			return f(o)
		})
		return nil
	})
	if first := group.Wait(); first != nil { // which has cancelled the reading
		return first
	}
	return err
}

// ForEachRaw reads all objects of a type, in a namespace or everywhere, with all that the server has
// of them, and calls f with each as the server wrote it, valid during the call: those of built-in
// types do not say what they are. If the list has to begin again they come twice.
func (c *Client) ForEachRaw(ctx context.Context, t graph.Type, namespace string, f func(json.RawMessage) error) error {
	return objectPages(ctx, c, ObjectRequest{Type: t, Namespace: namespace},
		func(raw *json.RawMessage) error { return f(*raw) })
}

// unread is the error of a list that could not be read.
func (r ObjectRequest) unread(err error) error {
	return &UnreadError{Type: r.Type, Namespace: r.Namespace, Err: err}
}

// objectPages reads a list to its end, of each object what an Item keeps, and begins again when it
// expires before that.
func objectPages[Item any](ctx context.Context, c *Client, r ObjectRequest, item func(*Item) error) error {
	path := resourcePath(r.Type, r.Namespace)
	token := ""
	for restarts := 0; ; {
		next, err := readObjectPage(ctx, c, path, r, token, item)
		switch {
		case apierrors.IsResourceExpired(err) && restarts < maxRestarts:
			restarts++
		case err != nil:
			return r.unread(err)
		case next == "":
			return nil
		}
		token = next
	}
}

// decodeObject decodes an object. Those of a list of a built-in type do not say what they are; the
// list does.
func decodeObject(raw []byte, t graph.Type) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &o.Object); err != nil {
		return nil, jsonError(err)
	}
	if o.GetName() == "" || o.GetUID() == "" {
		return nil, fmt.Errorf("%w: an object without a name or a uid", errMalformed)
	}
	if o.GetKind() == "" || o.GetKind() == "PartialObjectMetadata" {
		o.SetAPIVersion(t.APIVersion())
		o.SetKind(t.Kind)
	}
	return o, nil
}

const (
	// objectPageSize is kubectl's. Whole objects are many times as large as their metadata, and the
	// server holds a page in memory.
	objectPageSize = 500
	// singleReads is how many objects are asked for one by one whatever a list would cost.
	singleReads = 4
	// perRead is how many objects of a list cost about as much as one read.
	perRead = 10
)

// worthAList reports whether a list of all objects of a type in a namespace is cheaper than one
// read for each that is wanted.
func worthAList(wanted, all int) bool { return wanted > singleReads && wanted*perRead >= all }

// readObjectPage reads one page of a list of whole objects, of each what an Item keeps, and returns
// the token of the next page, which is empty at the end of the list and with an error.
func readObjectPage[Item any](ctx context.Context, c *Client, path []string, r ObjectRequest, token string,
	item func(*Item) error) (string, error) {
	accept := acceptJSON
	if r.Metadata {
		accept = acceptMetas
	}
	req := c.rest.Get().AbsPath(path...).SetHeader("Accept", accept).WarningHandlerWithContext(quietWarnings{}).
		Param("limit", strconv.Itoa(objectPageSize))
	r.selected.param(req, token)
	body, err := req.Stream(ctx)
	if err != nil {
		return "", err
	}
	defer body.Close()
	var meta listMeta
	if err := readJSONList(bufio.NewReaderSize(body, readBuffer), func(m listMeta) { meta = m }, item); err != nil {
		return "", err
	}
	return meta.continueToken, meta.versioned()
}

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
