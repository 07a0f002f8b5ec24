package cluster

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ListAnnotated reads the metadata of the objects of a type, in a namespace or everywhere, that have
// one of some annotations. The server cannot select by those: all are read, and what has none is not
// decoded. What a snapshot does not save of metadata may be missing: managedFields, and the values of
// annotations that are copies of the object. The error is an UnreadError.
func (c *Client) ListAnnotated(ctx context.Context, t graph.Type, namespace string,
	keys []string) ([]*unstructured.Unstructured, error) {
	all, err := restarting(func() ([]*unstructured.Unstructured, error) {
		m := &annotated{of: t, keys: keys}
		_, err := c.readAll(ctx, page{path: resourcePath(t, namespace), save: saved{to: m}}, func(*graph.Object) {})
		return m.found, cmp.Or(err, m.err)
	})
	if err != nil {
		return nil, ObjectRequest{Type: t, Namespace: namespace}.unread(err)
	}
	return all, nil
}

// annotated are the objects of one list that have one of some annotations. It is a PageSaver.
type annotated struct {
	of    graph.Type
	keys  []string
	found []*unstructured.Unstructured
	err   error
}

// Page implements PageSaver.
func (m *annotated) Page(graph.Type, string) (add func(item []byte), end func()) {
	return func(item []byte) {
		has := func(key string) bool { return bytes.Contains(item, []byte(key)) }
		if m.err == nil && slices.ContainsFunc(m.keys, has) {
			m.err = m.add(item)
		}
	}, func() {}
}

// Discard implements PageSaver.
func (m *annotated) Discard(graph.Type, string) { m.found = nil }

func (m *annotated) add(item []byte) error {
	partial := metav1.PartialObjectMetadata{}
	if err := partial.Unmarshal(item); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	if !slices.ContainsFunc(m.keys, func(key string) bool { return metav1.HasAnnotation(partial.ObjectMeta, key) }) {
		return nil
	}
	partial.APIVersion, partial.Kind = m.of.APIVersion(), m.of.Kind
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&partial)
	if err != nil {
		return err
	}
	m.found = append(m.found, &unstructured.Unstructured{Object: fields})
	return nil
}
