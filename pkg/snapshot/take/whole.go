package take

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// perPage is how many whole objects an entry has.
const perPage = 200

// fewEvents is up to how many events are saved although nobody asked for them. Their number is not
// known before.
const fewEvents = 5000

var errTooMany = errors.New("there are too many of them")

const definition = "CustomResourceDefinition"

// whole saves the whole objects of a type. With an error it has saved some of them.
func (s *saver) whole(ctx context.Context, t graph.Type) error {
	var page []json.RawMessage
	objects, asked := 0, slices.Contains(s.Whole, t.GroupResource())
	err := s.Client.ForEachRaw(ctx, t, s.in(t), func(raw json.RawMessage) error {
		if objects++; objects > fewEvents && t.Resource == cluster.Events.Resource && !asked {
			return errTooMany
		}
		clean, err := cleaned(raw, t)
		if page = append(page, clean); err == nil && len(page) == perPage {
			s.to.Objects(of(t, s.in(t)), page)
			page = nil
		}
		return err
	})
	if err == nil {
		s.to.Objects(of(t, s.in(t)), page)
	}
	return err
}

// cleaned returns an object that says what it is, without what is in the copies of itself that
// tools have written to it, and without the schemas of a CRD.
func cleaned(raw json.RawMessage, t graph.Type) (json.RawMessage, error) {
	// Decoding all of them takes longer than all else. A server begins the items of a list of a
	// built-in type with the metadata, and those of a custom resource with what they are.
	if t.Kind != definition && !slices.ContainsFunc(snapshot.Copies, func(key string) bool {
		return bytes.Contains(raw, []byte(key))
	}) {
		said := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":`, t.APIVersion(), t.Kind)
		if rest, is := bytes.CutPrefix(raw, []byte(`{"metadata":`)); is {
			return append(said, rest...), nil
		}
		if bytes.HasPrefix(raw, said) {
			return bytes.Clone(raw), nil
		}
	}
	o := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &o.Object); err != nil {
		return nil, err
	}
	o.SetAPIVersion(t.APIVersion())
	o.SetKind(t.Kind)
	return clean(o)
}

// clean encodes an object without what is not saved of it.
func clean(o *unstructured.Unstructured) (json.RawMessage, error) {
	if annotations := o.GetAnnotations(); len(annotations) > 0 {
		for _, key := range snapshot.Copies {
			if _, ok := annotations[key]; ok {
				annotations[key] = ""
			}
		}
		o.SetAnnotations(annotations)
	}
	if versions, ok, _ := unstructured.NestedSlice(o.Object, "spec", "versions"); ok && o.GetKind() == definition {
		for _, version := range versions {
			if fields, ok := version.(map[string]any); ok {
				delete(fields, "schema")
			}
		}
		if err := unstructured.SetNestedSlice(o.Object, versions, "spec", "versions"); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(o.Object)
	return b.Bytes(), err
}

// stuck saves the objects that are being deleted as a whole, of those of which nothing but metadata
// was saved; of Secrets and ConfigMaps, their whole metadata. One that is gone meanwhile is left out.
func (s *saver) stuck(ctx context.Context) error {
	for key, names := range s.deleted {
		if slices.Contains(s.end.Contents, of(key.t, s.in(key.t))) {
			continue
		}
		objects := make([]json.RawMessage, len(names))
		err := cluster.EachUntil(ctx, s.Client, names, func(ctx context.Context, i int, name string) error {
			get := s.Client.GetObject
			if cluster.MetadataOnly(key.t) {
				get = s.Client.GetObjectMeta
			}
			o, err := get(ctx, key.t, key.namespace, name)
			if err != nil {
				return nil //nolint:nilerr // its metadata was saved, and that it has not more
			}
			objects[i], err = clean(o)
			return err
		})
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		objects = slices.DeleteFunc(objects, func(o json.RawMessage) bool { return o == nil })
		for page := range slices.Chunk(objects, perPage) {
			s.to.Objects(of(key.t, key.namespace), page)
		}
	}
	return nil
}
