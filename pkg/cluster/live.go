package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

const (
	// acceptMetadata asks for the metadata of one object, or of those of a watch, in protobuf if
	// the server speaks it. It is what client-go's client for metadata asks for.
	acceptMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
		acceptObject
	// acceptObject asks for all of the metadata of one object.
	acceptObject = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
)

// acceptMetas asks for all of the metadata of a list of objects.
const acceptMetas = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// ErrNoUID is of an answer that does not say which object it is about.
var ErrNoUID = errors.New("the answer has no uid")

// GetMeta reads one object's metadata live. The error is the server's, a NotFound among them, or
// says that the answer is about something else.
func (c *Client) GetMeta(ctx context.Context, t graph.Type, namespace, name string) (*graph.Object, error) {
	if err := checkName(t, name); err != nil {
		return nil, err
	}
	return getMetadata(ctx, c.rest.Get().AbsPath(resourcePath(t, namespace, name)...), name)
}

// getMetadata sends a request whose answer is about one object, and reads its metadata.
func getMetadata(ctx context.Context, req *rest.Request, name string) (*graph.Object, error) {
	raw, err := getRaw(ctx, req, acceptMetadata)
	if err != nil {
		return nil, err
	}
	var o *graph.Object
	if bytes.HasPrefix(raw, protobufMagic) {
		o, _, err = decodeMetadata(raw, extras{})
	} else {
		var it jsonItem
		if err = json.Unmarshal(raw, &it); err == nil {
			o, err = it.object(extras{})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", req.URL().Path, err)
	}
	return named(o, name)
}

// named returns the object of an answer to a request for one.
func named(o *graph.Object, name string) (*graph.Object, error) {
	if o.Name != name {
		return nil, errAnother(name, o.Name)
	}
	return o, nil
}

// errAnother is of an answer about another object than the one that was asked for, or about none, as
// a proxy may give with a 200. It says nothing of that one (RO-004, P-01).
func errAnother(name, is string) error {
	return fmt.Errorf("%w: asked for %q, and the answer is about %q", errMalformed, name, is)
}

// Details are what a live read can show besides the metadata that a graph keeps.
type Details struct {
	// GracePeriodSeconds is metadata.deletionGracePeriodSeconds, 0 for none.
	GracePeriodSeconds int64
	// Behind says that the object's controller has not taken notice of its generation yet, by
	// status.observedGeneration. Of an object without that nothing is known, and it is false.
	Behind bool
}

// GetMetaAndDetails reads one whole object live. The error is the server's.
func (c *Client) GetMetaAndDetails(ctx context.Context, t graph.Type, namespace, name string) (*graph.Object, Details,
	error) {
	path := resourcePath(t, namespace, name)
	var it struct {
		jsonItem
		Status json.RawMessage
	}
	if err := getJSON(ctx, c.rest.Get().AbsPath(path...), acceptJSON, &it); err != nil {
		return nil, Details{}, err
	}
	o, err := it.object(extras{})
	if err == nil {
		o, err = named(o, name)
	}
	d := Details{GracePeriodSeconds: it.gracePeriod()}
	var status struct{ ObservedGeneration *int64 }
	// A custom resource may have anything there.
	if json.Unmarshal(it.Status, &status) == nil && status.ObservedGeneration != nil {
		d.Behind = *status.ObservedGeneration < it.Metadata.Generation
	}
	return o, d, err
}

// getJSON sends a request and reads the answer into a struct that names the fields of interest.
func getJSON(ctx context.Context, req *rest.Request, accept string, into any) error {
	raw, err := getRaw(ctx, req, accept)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("reading %s: %w", req.URL().Path, err)
	}
	return nil
}

// post sends an object of a type to be created, and reads the answer as getJSON does.
func (c *Client) post(ctx context.Context, t graph.Type, namespace string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req := c.rest.Post().AbsPath(resourcePath(t, namespace)...).SetHeader("Content-Type", acceptJSON).Body(raw)
	return getJSON(ctx, req, acceptJSON, into)
}

// getRaw sends a request and returns the answer. The error is the server's.
func getRaw(ctx context.Context, req *rest.Request, accept string) ([]byte, error) {
	result := req.SetHeader("Accept", accept).Do(ctx)
	if err := result.Error(); err != nil { // Raw's own error would not be what the server says
		return nil, err
	}
	return result.Raw()
}

// ErrBadName is of a name that no object can have, since it cannot stand in the path of a request:
// what names it names nothing. Every API server refuses it, so that asking would tell no more.
var ErrBadName = errors.New("no object can have this name")

// checkName returns ErrBadName with the reason if an object of a type cannot have the name.
func checkName(t graph.Type, name string) error {
	if problems := content.IsPathSegmentName(name); len(problems) > 0 {
		return fmt.Errorf("%s %q: %w: it %s", t.Resource, name, ErrBadName, problems[0])
	}
	return nil
}

// Match is an object that matched when the server was asked.
type Match struct{ Namespace, Name, UID, ResourceVersion string }

// ListMatching lists the objects of a type that match, in a namespace or everywhere, in the
// server's order. It reads metadata alone. The error is the server's. A list that expires before
// its end is begun again, because pages of different snapshots do not make one list.
func (c *Client) ListMatching(ctx context.Context, t graph.Type, namespace string, s Selection) ([]Match, error) {
	p := page{path: resourcePath(t, namespace), restrict: s}
	return restarting(func() ([]Match, error) {
		var matches []Match
		_, err := c.readAll(ctx, p, func(o *graph.Object) {
			matches = append(matches, Match{o.Namespace, o.Name, o.UID, o.ResourceVersion})
		})
		return matches, err
	})
}
