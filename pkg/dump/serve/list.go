package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// missing continues a list of which the dump has only a part. Whoever reads the list sees the
// objects that there are, and that it does not end.
const missing = "missing"

// list answers one page of a list.
func (s *Server) list(r *http.Request, t *dump.Type, version, namespace string) answer {
	query, partial := r.URL.Query(), wantsMetadata(r)
	if pages, at := t.Pages(); wantsEncoded(r) && len(pages) > 0 && namespace == "" && query.Get("labelSelector") == "" &&
		query.Get("fieldSelector") == "" {
		return s.page(t, pages, at, query.Get("continue"))
	}
	objects, covered := t.In(namespace), t.Covers(namespace)
	if token := query.Get("continue"); token == missing || !covered && len(objects) == 0 {
		return unknown(s.dump.Why(t, namespace))
	}
	_, prints := printers[groupResource(t)]
	asTable := prints && wantsTable(r)
	label, field, err := selectors(query)
	if err != nil {
		return status(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error(), nil)
	}
	if !partial && !asTable || ofContent(field) {
		if len(objects) > 0 && !t.HasContent() {
			return unknown(onlyMetadata(t))
		}
		objects = slices.DeleteFunc(slices.Clone(objects), func(o *dump.Object) bool { return o.JSON == nil })
	}
	from, ok := begin(query.Get("continue"), len(objects))
	if !ok {
		return badToken()
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 {
		limit = len(objects)
	}
	selected, to := choose(objects, from, limit, label, field)
	meta := metav1.ListMeta{ResourceVersion: resourceVersion(objects)}
	switch {
	case to < len(objects):
		meta.Continue = strconv.Itoa(to)
	case !covered:
		meta.Continue = missing
	}
	if asTable {
		return table(t, selected, meta)
	}
	head := struct {
		Kind       string          `json:"kind"`
		APIVersion string          `json:"apiVersion"`
		Metadata   metav1.ListMeta `json:"metadata"`
	}{t.Kind + "List", metav1.GroupVersion{Group: t.Group, Version: version}.String(), meta}
	if partial {
		head.Kind, head.APIVersion = "PartialObjectMetadataList", metav1.SchemeGroupVersion.String()
	}
	items := make([][]byte, 0, len(selected))
	for _, o := range selected {
		if partial {
			items = append(items, metadata(o))
			continue
		}
		items = append(items, o.JSON)
	}
	return answer{http.StatusOK, contentJSON, joined(encode(head), items)}
}

// page answers one page of metadata as it was saved.
func (s *Server) page(t *dump.Type, pages []func() ([]byte, error), resourceVersion, token string) answer {
	if token == missing {
		return unknown(s.dump.Why(t, ""))
	}
	at, ok := begin(token, len(pages)-1)
	if !ok {
		return badToken()
	}
	items, err := pages[at]()
	if err != nil {
		return unknown(damaged(err))
	}
	next := nextPage(at, len(pages))
	if next == "" && !t.Covers("") {
		next = missing
	}
	return encoded(cmp.Or(resourceVersion, "1"), next, items)
}

func damaged(err error) string { return "the snapshot is damaged: " + err.Error() }

// nextPage is the token of the page after one; empty after the last.
func nextPage(at, pages int) string {
	if at+1 < pages {
		return strconv.Itoa(at + 1)
	}
	return ""
}

// encoded answers a page of metadata, encoded as snapshot.Items are.
func encoded(resourceVersion, next string, items []byte) answer {
	return answer{http.StatusOK, contentProtobuf, snapshot.EncodeList(resourceVersion, next, [][]byte{items})}
}

const contentProtobuf = "application/vnd.kubernetes.protobuf"

// begin returns where a page begins by its token.
func begin(token string, most int) (at int, ok bool) {
	if token == "" {
		return 0, true
	}
	at, err := strconv.Atoi(token)
	return at, err == nil && at >= 0 && at <= most
}

func badToken() answer {
	return status(http.StatusBadRequest, metav1.StatusReasonBadRequest, "the continue token is not valid", nil)
}

// onlyMetadata is why an object of a type cannot be read whole.
func onlyMetadata(t *dump.Type) string {
	return "the snapshot has the metadata of them and no more: take it with " + phrase.Command("--whole", groupResource(t))
}

// selectors are those of a request.
func selectors(query url.Values) (labels.Selector, fields.Selector, error) {
	label, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return nil, nil, fmt.Errorf("labelSelector: %w", err)
	}
	field, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return nil, nil, fmt.Errorf("fieldSelector: %w", err)
	}
	return label, field, nil
}

// ofContent returns whether a selector is of a field that stands outside of the metadata.
func ofContent(selector fields.Selector) bool {
	return slices.ContainsFunc(selector.Requirements(), func(r fields.Requirement) bool {
		return r.Field != "metadata.name" && r.Field != "metadata.namespace"
	})
}

// choose returns a page of the objects that match selectors, and where the next one begins. Of fields
// each is known that the object has, which are more than a server knows.
func choose(objects []*dump.Object, from, limit int, label labels.Selector, field fields.Selector) (
	selected []*dump.Object, next int,
) {
	if label.Empty() && field.Empty() {
		next = from + min(limit, len(objects)-from)
		return objects[from:next], next
	}
	keys := needed(label)
	for at, o := range objects[from:] {
		if o.JSON == nil && !containsAll(o.Metadata, keys) {
			continue
		}
		if labelled, fields := of(o); label.Matches(labelled) && field.Matches(fields) {
			if len(selected) == limit {
				return selected, from + at
			}
			selected = append(selected, o)
		}
	}
	return selected, len(objects)
}

// of returns the labels and the fields of an object. What cannot be decoded has none; it was decoded
// when the dump was read.
func of(o *dump.Object) (labels.Labels, fields.Fields) {
	if o.JSON == nil {
		var partial metav1.PartialObjectMetadata
		_ = partial.Unmarshal(o.Metadata)
		return labels.Set(partial.Labels), fields.Set{"metadata.name": partial.Name, "metadata.namespace": partial.Namespace}
	}
	var content unstructured.Unstructured
	_ = json.Unmarshal(o.JSON, &content.Object)
	return labels.Set(content.GetLabels()), set(content.Object)
}

// needed are the keys of labels that an object has to have for a selector to match it. What does not
// contain them need not be decoded.
func needed(selector labels.Selector) (keys [][]byte) {
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In, selection.Exists, selection.GreaterThan,
			selection.LessThan:
			keys = append(keys, []byte(r.Key()))
		}
	}
	return keys
}

func containsAll(encoded []byte, keys [][]byte) bool {
	return !slices.ContainsFunc(keys, func(key []byte) bool { return !bytes.Contains(encoded, key) })
}

// set has the fields of an object.
type set map[string]any

func (s set) lookup(field string) (string, bool) {
	at, _, _ := unstructured.NestedFieldNoCopy(s, strings.Split(field, ".")...)
	switch v := at.(type) {
	case string:
		return v, true
	case bool, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// Has implements fields.Fields.
func (s set) Has(field string) bool {
	_, ok := s.lookup(field)
	return ok
}

// Get implements fields.Fields.
func (s set) Get(field string) string {
	value, _ := s.lookup(field)
	return value
}
