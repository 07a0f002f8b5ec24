package cluster

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// WriteOptions say how to send a whole object.
type WriteOptions struct {
	// DryRun has the server do everything but store the result (API-040).
	DryRun bool
}

// Create creates an object of a type in a namespace and returns it as the server has stored it. The
// error is the server's.
func (c *Client) Create(ctx context.Context, t graph.Type, namespace string, o *unstructured.Unstructured,
	opts WriteOptions) (*unstructured.Unstructured, error) {
	return c.send(ctx, c.rest.Post().AbsPath(resourcePath(t.Group, t.Version, t.Resource, namespace)...), acceptJSON, t,
		o, opts)
}

// UpdateStatus replaces the status of an object, and of no other: the object has the uid and the
// resourceVersion of the live one. The error is the server's: NotFound if the type has no such
// subresource.
func (c *Client) UpdateStatus(ctx context.Context, t graph.Type, o *unstructured.Unstructured,
	opts WriteOptions) (*unstructured.Unstructured, error) {
	path := append(resourcePath(t.Group, t.Version, t.Resource, o.GetNamespace()), o.GetName(), "status")
	return c.send(ctx, c.rest.Put().AbsPath(path...), acceptJSON, t, o, opts)
}

// Apply sends an object by server-side apply and takes over the fields that others manage. The uid
// of the object is a precondition: another object of the name is left as it is. The error is the
// server's.
func (c *Client) Apply(ctx context.Context, t graph.Type, o *unstructured.Unstructured,
	opts WriteOptions) (*unstructured.Unstructured, error) {
	path := append(resourcePath(t.Group, t.Version, t.Resource, o.GetNamespace()), o.GetName())
	return c.send(ctx, c.rest.Patch(types.ApplyYAMLPatchType).AbsPath(path...).Param("force", "true"),
		string(types.ApplyYAMLPatchType), t, o, opts)
}

// send sends an object and returns the one that the server answers with.
func (c *Client) send(ctx context.Context, req *rest.Request, contentType string, t graph.Type,
	o *unstructured.Unstructured, opts WriteOptions) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	req.Param("fieldManager", FieldManager).SetHeader("Content-Type", contentType).Body(body)
	if opts.DryRun { // nobody typed it
		req.Param("dryRun", metav1.DryRunAll).WarningHandlerWithContext(quietWarnings{})
	}
	writing, done, err := writeContext(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var raw json.RawMessage
	if err := getJSON(writing, req, acceptJSON, &raw); err != nil {
		return nil, err
	}
	return decodeObject(raw, t)
}
