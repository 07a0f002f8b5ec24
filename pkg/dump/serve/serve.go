// Package serve answers requests from a dump as an API server would, within the process: discovery,
// lists in pages, and single objects. What the dump does not know it answers with an error that
// says so, never with an empty list or a 404 that names an object. It takes no write.
package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Server is a transport to a cluster that is a dump. Its methods are safe for concurrent use.
type Server struct {
	dump *dump.Dump
	name string
}

// New returns a transport to a dump, which errors call by a name.
func New(d *dump.Dump, name string) *Server { return &Server{d, name} }

// AsOf returns the time of the dump, at which its clock stands, and whether that can be relied on.
func (s *Server) AsOf() (at time.Time, known bool) { return s.dump.Time, s.dump.TimeOf != dump.OfFiles }

// Covers returns the namespaces of which the dump has all objects of a type.
func (s *Server) Covers(of graph.Type) []string {
	t, ok := s.dump.Find(of.Group, of.Resource)
	if !ok {
		return nil
	}
	return t.Namespaces()
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return respond(r, s.answer(r)), nil
}

// respond returns an answer to a request as it comes from a transport.
func respond(r *http.Request, a answer) *http.Response {
	length := int64(0)
	for _, part := range a.body {
		length += int64(len(part))
	}
	header := http.Header{"Content-Type": {a.contentType}}
	return &http.Response{
		Status: strconv.Itoa(a.code) + " " + http.StatusText(a.code), StatusCode: a.code, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: header, Body: io.NopCloser(&a.body), ContentLength: length, Request: r,
	}
}

// answer is what a server answers.
type answer struct {
	code        int
	contentType string
	body        net.Buffers
}

const contentJSON = "application/json"

func (s *Server) answer(r *http.Request) answer {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == reviewPath && r.Body != nil:
		return s.review(r)
	case r.Method != http.MethodGet: // a write, a dry run of one, or a review
		return unknown("only a cluster can answer a " + r.Method + ", and " + s.name + " is none")
	case r.URL.Query().Get("watch") != "":
		return unknown(s.name + " is no cluster, and cannot be watched")
	}
	if len(path) > 1 && slices.Contains(path, "") {
		return notServed()
	}
	switch path[0] {
	case "api":
		if len(path) == 1 {
			return s.core(r)
		}
		return s.version(r, "", path[1], path[2:])
	case "apis":
		switch len(path) {
		case 1:
			return s.groups(r)
		case 2:
			return s.group(path[1])
		}
		return s.version(r, path[1], path[2], path[3:])
	}
	return notServed()
}

// version answers what is below the path of a version.
func (s *Server) version(r *http.Request, group, version string, rest []string) answer {
	if len(rest) == 0 {
		return s.resources(group, version)
	}
	namespace := ""
	if rest[0] == "namespaces" && len(rest) > 2 {
		namespace, rest = rest[1], rest[2:]
	}
	t, ok := s.dump.Find(group, rest[0])
	if !ok || !slices.Contains(t.Versions, version) || namespace != "" && !t.Namespaced {
		return notServed()
	}
	switch {
	case len(rest) == 1:
		return s.list(r, t, version, namespace)
	case len(rest) == 2 && t.Namespaced == (namespace != ""):
		return s.get(r, t, namespace, rest[1])
	}
	return notServed()
}

// get answers a request for one object.
func (s *Server) get(r *http.Request, t *dump.Type, namespace, name string) answer {
	o, ok := t.Find(namespace, name)
	_, prints := printers[groupResource(t)]
	switch {
	case !ok && !t.Covers(namespace):
		return unknown(fmt.Sprintf("%s %q is not in %s: %s", groupResource(t), name, s.name, s.dump.Why(t, namespace)))
	case !ok:
		return status(http.StatusNotFound, metav1.StatusReasonNotFound,
			fmt.Sprintf("%s %q not found", groupResource(t), name),
			&metav1.StatusDetails{Name: name, Group: t.Group, Kind: t.Name})
	case wantsMetadata(r):
		return answer{http.StatusOK, contentJSON, net.Buffers{metadata(o)}}
	case wantsTable(r) && prints:
		return table(t, []*dump.Object{o}, metav1.ListMeta{})
	case o.JSON == nil:
		return unknown(onlyMetadata(t))
	}
	return answer{http.StatusOK, contentJSON, net.Buffers{o.JSON}}
}

func groupResource(t *dump.Type) string {
	return strings.TrimSuffix(t.Name+"."+t.Group, ".")
}

// wantsMetadata returns whether a request asks for metadata only.
func wantsMetadata(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// wantsEncoded returns whether a request asks for metadata as a snapshot has it, in protobuf: what
// has no managedFields, nor copies of the object.
func wantsEncoded(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), contentProtobuf+";as=PartialObjectMetadataList")
}

// metadata is an object without its content.
func metadata(o *dump.Object) []byte {
	if o.JSON == nil {
		partial := metav1.PartialObjectMetadata{}
		if err := partial.Unmarshal(o.Metadata); err != nil {
			return []byte("{}")
		}
		partial.TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: metav1.SchemeGroupVersion.String()}
		return encode(partial)
	}
	var it struct {
		Kind       string          `json:"kind"`
		APIVersion string          `json:"apiVersion"`
		Metadata   json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(o.JSON, &it) != nil { // it was decoded when the dump was read
		return []byte("{}")
	}
	it.Kind, it.APIVersion = "PartialObjectMetadata", metav1.SchemeGroupVersion.String()
	return encode(it)
}

// encode encodes what is built of JSON, and cannot fail.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Appendf(nil, "%q", err.Error())
	}
	return raw
}

// unknown answers what the dump does not know.
func unknown(why string) answer {
	return status(http.StatusServiceUnavailable, metav1.StatusReason(v1alpha1.GapNotSaved), why, nil)
}

// notServed answers what no server has, as one does: of no object in particular.
func notServed() answer {
	return status(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource",
		&metav1.StatusDetails{})
}

func status(code int32, reason metav1.StatusReason, message string, details *metav1.StatusDetails) answer {
	body := encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Message: message, Reason: reason, Details: details, Code: code})
	return answer{int(code), contentJSON, net.Buffers{body}}
}

var comma = []byte(",")

// resourceVersion is the largest of objects; that of a list says from where it could be watched.
func resourceVersion(objects []*dump.Object) string {
	largest := uint64(1)
	for _, o := range objects {
		if v, err := strconv.ParseUint(o.ResourceVersion, 10, 64); err == nil {
			largest = max(largest, v)
		}
	}
	return strconv.FormatUint(largest, 10)
}

// joined are the items of a list between its head and its end.
func joined(head []byte, items [][]byte) net.Buffers {
	head = bytes.TrimSuffix(head, []byte("}"))
	body := net.Buffers{append(head, `,"items":[`...)}
	for i, item := range items {
		if i > 0 {
			body = append(body, comma)
		}
		body = append(body, item)
	}
	return append(body, []byte("]}"))
}
