package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

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
// that the server has of them: for where there are few. The error is an UnreadError; with it are those
// that were read.
func (c *Client) ListObjects(ctx context.Context, t graph.Type, namespace string,
	selected Selection) ([]*unstructured.Unstructured, error) {
	return c.listAs(ctx, ObjectRequest{Type: t, Namespace: namespace, selected: selected})
}

func (c *Client) listAs(ctx context.Context, r ObjectRequest) ([]*unstructured.Unstructured, error) {
	seen := map[string]bool{} // a list that had to begin again shows objects twice
	var all []*unstructured.Unstructured
	err := objectPages(ctx, c, r, func(raw *json.RawMessage) error {
		o, err := decodeObject(*raw, r.Type)
		if err == nil && !seen[string(o.GetUID())] {
			seen[string(o.GetUID())] = true
			all = append(all, o)
		}
		return err
	})
	return all, err
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

// objectPageSize is kubectl's. Whole objects are many times as large as their metadata, and the
// server holds a page in memory.
const objectPageSize = 500

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
