package cluster

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// NamespaceType is the type of namespaces.
var NamespaceType = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}

// Finalize gives a namespace the spec.finalizers, and returns it as the server answers. It sends
// the whole object as it was read, since the subresource stores all of it but the status; with its
// uid and resourceVersion, which are the preconditions (NS-001, T-19). The error is the server's:
// Conflict if the namespace is another, or not as it was read.
func (c *Client) Finalize(ctx context.Context, live *unstructured.Unstructured, finalizers []string,
	opts WriteOptions) (*unstructured.Unstructured, error) {
	if live.GetUID() == "" || live.GetResourceVersion() == "" {
		return nil, errors.New(
			"finalizing a namespace: it was read without its uid or its resourceVersion, and without them anything would be overwritten")
	}
	body := live.DeepCopy()
	if err := unstructured.SetNestedStringSlice(body.Object, append([]string{}, finalizers...), "spec",
		"finalizers"); err != nil {
		return nil, fmt.Errorf("finalizing namespace %q: %w", live.GetName(), err)
	}
	path := append(resourcePath("", "v1", "namespaces", ""), live.GetName(), "finalize")
	return c.send(ctx, c.rest.Put().AbsPath(path...), acceptJSON, NamespaceType, body, opts)
}
