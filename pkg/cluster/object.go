package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Located names an object as a sentence does: its kind, and its name with its namespace.
func Located(o *unstructured.Unstructured) string { return graph.RefOf(o).Located() }

// Place says where something was read: an object, and a field of it if one is given.
func Place(o *unstructured.Unstructured, field string) string {
	return strings.TrimSpace(Located(o) + " " + field)
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
