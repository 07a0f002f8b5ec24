package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// acceptObject asks for the metadata of one object, which is small enough for JSON.
const acceptObject = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// acceptMetas asks for all of the metadata of a list of objects.
const acceptMetas = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// ErrNoUID is of an answer that does not say which object it is about.
var ErrNoUID = errors.New("the answer has no uid")

// GetMeta reads one object's metadata live. The error is the server's, a NotFound among them, or says that the answer is about something else.
func (c *Client) GetMeta(ctx context.Context, t graph.Type, namespace, name string) (*graph.Object, error) {
	path := append(resourcePath(t.Group, t.Version, t.Resource, namespace), name)
	var it jsonItem
	if err := getJSON(ctx, c.rest.Get().AbsPath(path...), acceptObject, &it); err != nil {
		return nil, err
	}
	return it.named(name)
}

// named returns the object of an answer to a request for one. An answer about another, or about none, as a proxy may give with a 200, says
// nothing of the one that was asked for (RO-004, P-01).
func (it *jsonItem) named(name string) (*graph.Object, error) {
	if it.Metadata.Name != name {
		return nil, fmt.Errorf("%w: asked for %q, and the answer is about %q", errMalformed, name, it.Metadata.Name)
	}
	return it.object(extras{})
}

// Details are what a live read can show besides the metadata that a graph keeps.
type Details struct {
	// GracePeriodSeconds is metadata.deletionGracePeriodSeconds, 0 for none.
	GracePeriodSeconds int64
	// ObservedGeneration is status.observedGeneration, meaningful if HasObserved: what the object's controller has taken notice of.
	ObservedGeneration int64
	HasObserved        bool
}

// GetMetaAndDetails reads one whole object live. The error is the server's.
func (c *Client) GetMetaAndDetails(ctx context.Context, t graph.Type, namespace, name string) (*graph.Object, Details, error) {
	path := append(resourcePath(t.Group, t.Version, t.Resource, namespace), name)
	var it struct {
		jsonItem
		Status json.RawMessage
	}
	if err := getJSON(ctx, c.rest.Get().AbsPath(path...), acceptJSON, &it); err != nil {
		return nil, Details{}, err
	}
	o, err := it.named(name)
	d := Details{GracePeriodSeconds: it.gracePeriod()}
	var status struct{ ObservedGeneration *int64 }
	// A custom resource may have anything there.
	if json.Unmarshal(it.Status, &status) == nil && status.ObservedGeneration != nil {
		d.ObservedGeneration, d.HasObserved = *status.ObservedGeneration, true
	}
	return o, d, err
}

// getJSON sends a request and reads the answer into a struct that names the fields of interest.
func getJSON(ctx context.Context, req *rest.Request, accept string, into any) error {
	result := req.SetHeader("Accept", accept).Do(ctx)
	if err := result.Error(); err != nil { // Raw's own error would not be what the server says
		return err
	}
	raw, err := result.Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("reading %s: %w", req.URL().Path, err)
	}
	return nil
}
