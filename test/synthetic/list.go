package synthetic

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	protobufType = "application/vnd.kubernetes.protobuf"
	// writeBuffer is what is written at once, and all that an answer holds.
	writeBuffer = 128 << 10
	// worthCompressing is how many bytes an answer has at least that a kube-apiserver compresses.
	worthCompressing = 128 << 10
)

// list answers a list: one page of it, of all namespaces or of one.
func (s *Server) list(w http.ResponseWriter, r *http.Request, k *kind, namespace string) {
	first, end, ok := s.selected(r, k, namespace)
	if !ok {
		status(w, http.StatusBadRequest, "BadRequest", "this server knows selectors by name and label only", "")
		return
	}
	query := r.URL.Query()
	if token := query.Get("continue"); token != "" {
		from, err := strconv.Atoi(token)
		if err != nil || from < first || from > end {
			status(w, http.StatusBadRequest, "BadRequest", "continue key is not valid", "")
			return
		}
		first = from
	}
	next := ""
	if limit, err := strconv.Atoi(query.Get("limit")); err == nil && limit > 0 && end-first > limit {
		end = first + limit
		next = strconv.Itoa(end)
	}
	accept := r.Header.Get("Accept")
	switch {
	case strings.Contains(accept, "as=Table"):
		before := fmt.Sprintf(
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":%q,"continue":%q},"columnDefinitions":%s,"rows":[`, version, next, k.columns())
		write(w, r, "application/json", []byte(before), first, end, ",", k.row, "]}")
	case strings.Contains(accept, protobufType) && strings.Contains(accept, "as=PartialObjectMetadataList"):
		e := &encoder{world: s.world}
		size := 0
		if end > first {
			size = len(e.item(nil, k, first)) * (end - first) // all of a type are equally long
		}
		write(w, r, protobufType, head(nil, next, size), first, end, "",
			func(b []byte, i int) []byte { return e.item(b, k, i) }, "")
	default:
		e := &encoder{world: s.world}
		metadataOnly := strings.Contains(accept, "as=PartialObjectMetadataList")
		apiVersion, name := k.apiVersion(), k.kind
		if metadataOnly {
			apiVersion, name = partialVersion, partialKind
		}
		before := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":%q,"continue":%q},"items":[`,
			name+"List", apiVersion, version, next)
		write(w, r, "application/json", []byte(before), first, end, ",",
			func(b []byte, i int) []byte { return e.json(b, k, i, metadataOnly) }, "]}")
	}
}

// selected returns the numbers of the objects that a list has, on all its pages.
func (s *Server) selected(r *http.Request, k *kind, namespace string) (first, end int, ok bool) {
	end = k.count
	if namespace != "" {
		n, found := s.world.namespaces.find(namespace)
		if !found {
			return 0, 0, true
		}
		first, end = k.within(n)
	}
	query := r.URL.Query()
	selector, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return 0, 0, false
	}
	if !selector.Matches(labels.Set{"app.kubernetes.io/name": k.prefix}) {
		return 0, 0, true
	}
	byField, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return 0, 0, false
	}
	for _, required := range byField.Requirements() {
		if required.Field != "metadata.name" {
			return 0, 0, false
		}
		i, found := k.find(required.Value)
		if !found || i < first || i >= end {
			return 0, 0, true
		}
		first, end = i, i+1
	}
	return first, end, true
}

// write writes an answer while its items are made.
func write(w http.ResponseWriter, r *http.Request, contentType string, before []byte, first, end int, between string,
	item func([]byte, int) []byte, after string) {
	w.Header().Set("Content-Type", contentType)
	var out io.Writer = w
	finish := func() error { return nil }
	if end > first && len(item(nil, first))*(end-first) >= worthCompressing {
		out, finish = compressed(w, r)
	}
	buffered := bufio.NewWriterSize(out, writeBuffer)
	_, _ = buffered.Write(before) // the first error is that of all that is written later
	for i := first; i < end; i++ {
		if i > first {
			_, _ = buffered.WriteString(between)
		}
		if _, err := buffered.Write(item(buffered.AvailableBuffer(), i)); err != nil {
			return // the client has gone away
		}
	}
	_, _ = buffered.WriteString(after)
	if buffered.Flush() == nil {
		_ = finish()
	}
}
