package cluster

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Create creates an object of a type in a namespace and returns it as the server has stored it. The error is the server's.
func (c *Client) Create(ctx context.Context, t graph.Type, namespace string, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	req := c.rest.Post().AbsPath(resourcePath(t.Group, t.Version, t.Resource, namespace)...).Param("fieldManager", FieldManager).
		SetHeader("Content-Type", "application/json").Body(body)
	var raw json.RawMessage
	if err := getJSON(ctx, req, acceptJSON, &raw); err != nil {
		return nil, err
	}
	return decodeObject(raw, t)
}
