package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// class is what kind of a request it is: it decides which faults are to be feared.
type class string

const (
	discovery class = "discovery"
	list      class = "list"
	get       class = "get"
	watch     class = "watch"
	review    class = "review"
	write     class = "write"
)

// request is a request of a command, with the namespace of the run taken out, so that it can be
// known again in another run.
type request struct {
	class class
	// key names it: method, path, and what else tells it from others.
	key string
	// group, resource and name are those of the path; name is empty for a list.
	group, resource, name string
}

// parse reads a request of a run that works in a namespace. The body can be read again afterwards.
func parse(r *http.Request, namespace string) request {
	q := request{}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var rest []string
	switch {
	case parts[0] == "api" && len(parts) > 2:
		rest = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		q.group, rest = parts[1], parts[3:]
	}
	if len(rest) > 2 && rest[0] == "namespaces" && rest[2] != "finalize" && rest[2] != "status" {
		rest = rest[2:]
	}
	if len(rest) > 0 {
		q.resource = rest[0]
	}
	if len(rest) > 1 {
		q.name = rest[1]
	}
	query := r.URL.Query()
	method := r.Method
	switch {
	case len(rest) == 0:
		q.class = discovery
	case q.resource == "selfsubjectaccessreviews":
		q.class = review
	case method != http.MethodGet:
		q.class = write
	case query.Get("watch") != "":
		q.class, method = watch, "WATCH"
	case q.name == "":
		q.class = list
	default:
		q.class = get
	}
	key := []string{method, r.URL.Path}
	accept := r.Header.Get("Accept")
	switch {
	case strings.Contains(accept, "as=Table"):
		key = append(key, "as a table")
	case (q.class == list || q.class == get) && !strings.Contains(accept, "PartialObjectMetadata"):
		key = append(key, "whole")
	}
	if query.Get("continue") != "" {
		key = append(key, "next page")
	}
	if query.Get("labelSelector") != "" || query.Get("fieldSelector") != "" {
		key = append(key, "selected")
	}
	if q.class == write || q.class == review {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		key = append(key, details(r, body)...)
	}
	q.key = strings.ReplaceAll(strings.Join(key, " "), namespace, "{ns}")
	return q
}

// details tell writes to one path and reviews from each other.
func details(r *http.Request, body []byte) []string {
	var sent struct {
		DryRun            []string
		PropagationPolicy string
		Spec              struct {
			ResourceAttributes struct{ Verb, Group, Resource, Subresource, Namespace, Name string }
		}
	}
	_ = json.Unmarshal(body, &sent) // a patch is a list
	var words []string
	if a := sent.Spec.ResourceAttributes; a.Verb != "" {
		words = append(words, a.Verb, a.Group+"/"+a.Resource, a.Subresource, a.Namespace+"/"+a.Name)
	}
	if sent.PropagationPolicy != "" {
		words = append(words, sent.PropagationPolicy)
	}
	if len(sent.DryRun) > 0 || r.URL.Query().Get("dryRun") != "" {
		words = append(words, "dry")
	}
	return words
}
