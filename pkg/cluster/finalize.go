package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// NamespaceType is the type of namespaces.
var NamespaceType = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}

// FinalizeOptions say how to change the spec.finalizers of a namespace.
type FinalizeOptions struct {
	// DryRun has the server do everything but store the result (API-040).
	DryRun bool
}

// Finalize gives a namespace the spec.finalizers, and returns it as the server answers. It sends
// the whole object as it was read, since the subresource stores all of it but the status; with its
// uid and resourceVersion, which are the preconditions (NS-001, T-19). The error is the server's:
// Conflict if the namespace is another, or not as it was read.
func (c *Client) Finalize(ctx context.Context, live *unstructured.Unstructured, finalizers []string,
	opts FinalizeOptions) (*unstructured.Unstructured, error) {
	if live.GetUID() == "" || live.GetResourceVersion() == "" {
		return nil, errors.New(
			"finalizing a namespace: it was read without its uid or its resourceVersion, and without them anything would be overwritten")
	}
	body := live.DeepCopy()
	if err := unstructured.SetNestedStringSlice(body.Object, append([]string{}, finalizers...), "spec",
		"finalizers"); err != nil {
		return nil, fmt.Errorf("finalizing namespace %q: %w", live.GetName(), err)
	}
	raw, err := json.Marshal(body.Object)
	if err != nil {
		return nil, err
	}
	path := append(resourcePath("", "v1", "namespaces", ""), live.GetName(), "finalize")
	req := c.rest.Put().AbsPath(path...).Param("fieldManager", FieldManager).SetHeader("Content-Type",
		acceptJSON).Body(raw)
	if opts.DryRun {
		req.Param("dryRun", metav1.DryRunAll)
	}
	writing, done, err := writeContext(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var answer json.RawMessage
	if err := getJSON(writing, req, acceptJSON, &answer); err != nil {
		return nil, err
	}
	return decodeObject(answer, NamespaceType)
}
