package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// jsonItem is what is read of an object where a server speaks JSON only. Whatever else the object
// has is stepped over.
type jsonItem struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		Generation                            int64
		CreationTimestamp, DeletionTimestamp  *metav1.Time
		DeletionGracePeriodSeconds            *int64
		OwnerReferences                       []struct {
			APIVersion, Kind, Name, UID    string
			Controller, BlockOwnerDeletion bool
		}
		Finalizers          []string
		Labels, Annotations json.RawMessage
	}
}

func (it *jsonItem) object(keep extras) (*graph.Object, error) {
	m := &it.Metadata
	o := &graph.Object{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
		Generation: m.Generation, Finalizers: m.Finalizers,
	}
	if m.CreationTimestamp != nil && !m.CreationTimestamp.IsZero() {
		o.CreationTimestamp = m.CreationTimestamp.Unix()
	}
	if m.DeletionTimestamp != nil {
		o.DeletionTimestamp = m.DeletionTimestamp.Unix()
	}
	for _, r := range m.OwnerReferences {
		o.Owners = append(o.Owners, graph.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID,
			Controller: r.Controller, Block: r.BlockOwnerDeletion,
		})
	}
	if keep.selector != nil {
		set, err := texts(m.Labels)
		if err != nil {
			return nil, err
		}
		o.Selected = keep.selector.Matches(labels.Set(set))
	}
	if len(keep.annotations) > 0 {
		set, err := texts(m.Annotations)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(set, func(key, _ string) bool { return !slices.Contains(keep.annotations, key) })
		if len(set) > 0 {
			o.Annotations = set
		}
	}
	return o, nil
}

// texts reads labels or annotations; there may be none.
func texts(raw json.RawMessage) (map[string]string, error) {
	set := map[string]string{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &set); err != nil {
			return nil, fmt.Errorf("%w: %w", errMalformed, err)
		}
	}
	return set, nil
}

// gracePeriod is the deletionGracePeriodSeconds, 0 for none.
func (it *jsonItem) gracePeriod() int64 {
	if it.Metadata.DeletionGracePeriodSeconds == nil {
		return 0
	}
	return *it.Metadata.DeletionGracePeriodSeconds
}

// readJSONList reads a page in JSON object by object; T names the fields of interest. The metadata
// of a list may stand behind its items, so onMeta can come last.
func readJSONList[T any](r io.Reader, onMeta func(listMeta), item func(*T) error) error {
	dec := json.NewDecoder(r)
	if err := expect(dec, json.Delim('{')); err != nil {
		return err
	}
	hasItems := false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return jsonError(err)
		}
		switch key {
		case "metadata":
			var m struct{ ResourceVersion, Continue string }
			if err := dec.Decode(&m); err != nil {
				return jsonError(err)
			}
			onMeta(listMeta{resourceVersion: m.ResourceVersion, continueToken: m.Continue})
		case "items":
			hasItems = true
			if err := readJSONItems(dec, item); err != nil {
				return err
			}
		default:
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return jsonError(err)
			}
			if key == "kind" && string(skipped) == `"APIGroupDiscoveryList"` {
				return fmt.Errorf("%w: it is a discovery document", errMalformed) // which has items, too, and may have none
			}
		}
	}
	if err := expect(dec, json.Delim('}')); err != nil {
		return err
	}
	if !hasItems {
		return fmt.Errorf("%w: no items", errMalformed) // which any other object passes for, and must not for an empty list
	}
	switch _, err := dec.Token(); { // to the end, so that the connection can be used again
	case err == nil:
		return fmt.Errorf("%w: more than one object", errMalformed)
	case err != io.EOF:
		return jsonError(err)
	}
	return nil
}

func readJSONItems[T any](dec *json.Decoder, item func(*T) error) error {
	open, err := dec.Token()
	if err != nil {
		return jsonError(err)
	}
	if open == nil {
		return nil // an empty list of a server written in Go is null
	}
	if open != json.Delim('[') {
		return fmt.Errorf("%w: items is no array", errMalformed)
	}
	for dec.More() {
		var it T
		if err := dec.Decode(&it); err != nil {
			return jsonError(err)
		}
		if err := item(&it); err != nil {
			return err
		}
	}
	return expect(dec, json.Delim(']'))
}

func expect(dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if err != nil {
		return jsonError(err)
	}
	if got != want {
		return fmt.Errorf("%w: %v where %v belongs", errMalformed, got, want)
	}
	return nil
}

// jsonError tells a body that ends early and one that is no JSON from an error of the connection.
func jsonError(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	var parse *time.ParseError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errTruncated
	case errors.As(err, &syntax), errors.As(err, &typ), errors.As(err, &parse):
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return err
}
