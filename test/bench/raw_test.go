package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestRawAsksWhatTheListingAsks is what makes the raw bytes a measure: the requests have to be the
// same.
func TestRawAsksWhatTheListingAsks(t *testing.T) {
	server := newListServer(t)
	// Whether answers are compressed depends on how long they take.
	config := &rest.Config{Host: server.URL, DisableCompression: true}

	client, err := cluster.New(config, 4)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := client.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.List(t.Context(), catalog, cluster.ListOptions{}, graph.NewBuilder()); err != nil {
		t.Fatal(err)
	}
	want := server.seen()

	raw, err := newRawReader(config, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := server.seen()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the raw reader does not ask what package cluster asks (-cluster +raw):\n%s", diff)
	}
	if lists := len(slices.DeleteFunc(got, func(r string) bool { return !strings.Contains(r, "limit=") })); lists != 6 ||
		int(raw.answers.Load()) != lists {
		t.Errorf("%d lists were asked for and %d read, want 6: two types of two pages, and two empty ones", lists,
			raw.answers.Load())
	}
	if want := int64(2 * (len(listAnswer("more")) + len(listAnswer("")) + len(emptyAnswer()))); raw.bytes.Load() != want {
		t.Errorf("read %d bytes, want all %d", raw.bytes.Load(), want)
	}
}

func TestContinueToken(t *testing.T) {
	for _, token := range []string{"", "more", strings.Repeat("x", 5000)} {
		got, err := continueToken(bufio.NewReaderSize(bytes.NewReader(listAnswer(token)), 16))
		if err != nil || got != token {
			t.Errorf("continueToken: %.20q, %v; want %.20q", got, err, token)
		}
	}
	whole := listAnswer("more")
	for _, answer := range [][]byte{nil, []byte("k8s"), []byte(`{"kind":"List"}`), whole[:20],
		[]byte("k8s\x00\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f")} {
		if got, err := continueToken(bufio.NewReader(bytes.NewReader(answer))); err == nil {
			t.Errorf("continueToken of %q: %q and no error", answer, got)
		}
	}
}

// listAnswer is a page as a server encodes it.
func listAnswer(token string) []byte { return listOf(3, token) }

// emptyAnswer is a list without objects.
func emptyAnswer() []byte { return listOf(0, "") }

func listOf(objects int, token string) []byte {
	bytesField := func(b []byte, num protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
	}
	meta := bytesField(bytesField(nil, 1, nil), 2, []byte("42"))
	if token != "" {
		meta = bytesField(meta, 3, []byte(token))
	}
	list := bytesField(nil, 1, meta)
	for i := range objects {
		list = bytesField(list, 2, bytesField(nil, 1, bytesField(nil, 1, fmt.Appendf(nil, "o%d", i))))
	}
	typeMeta := bytesField(bytesField(nil, 1, []byte("meta.k8s.io/v1")), 2, []byte("PartialObjectMetadataList"))
	return bytesField(bytesField([]byte("k8s\x00"), 1, typeMeta), 2, list)
}

// listServer serves two types in two pages each and remembers what was asked of it. It shows as
// much of the rest as every API server does.
type listServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
}

func newListServer(t *testing.T) *listServer {
	s := &listServer{}
	verbs := metav1.Verbs{"list", "watch", "delete"}
	core := []metav1.APIResource{
		{Name: "pods", Kind: "Pod", Namespaced: true, Verbs: verbs}, {Name: "pods/log", Kind: "Pod", Verbs: verbs},
		{Name: "bindings", Kind: "Binding", Namespaced: true, Verbs: metav1.Verbs{"create"}},
	}
	for _, name := range []string{"configmaps", "namespaces", "persistentvolumeclaims", "secrets", "serviceaccounts",
		"services"} {
		core = append(core, metav1.APIResource{Name: name, Kind: name, Verbs: metav1.Verbs{"get"}})
	}
	group := func(name, version string) metav1.APIGroup {
		return metav1.APIGroup{Name: name,
			Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: name + "/" + version, Version: version}}}
	}
	resource := func(group, version, name, kind string) *metav1.APIResourceList {
		return &metav1.APIResourceList{GroupVersion: group + "/" + version,
			APIResources: []metav1.APIResource{{Name: name, Kind: kind, Verbs: verbs}}}
	}
	discovery := map[string]any{
		"/version": map[string]string{"gitVersion": "v1.37.2"},
		"/api":     &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
		"/apis": &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList"}, Groups: []metav1.APIGroup{
			group("example.com", "v2"), group("apiregistration.k8s.io", "v1"), group("apiextensions.k8s.io", "v1"),
		}},
		"/api/v1":                         &metav1.APIResourceList{GroupVersion: "v1", APIResources: core},
		"/apis/example.com/v2":            resource("example.com", "v2", "things", "Thing"),
		"/apis/apiregistration.k8s.io/v1": resource("apiregistration.k8s.io", "v1", "apiservices", "APIService"),
		"/apis/apiextensions.k8s.io/v1": resource("apiextensions.k8s.io", "v1", "customresourcedefinitions",
			"CustomResourceDefinition"),
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests,
			fmt.Sprintf("%s %s Accept: %s Accept-Encoding: %s", r.Method, r.URL, r.Header["Accept"],
				r.Header["Accept-Encoding"]))
		s.mu.Unlock()
		if answer, ok := discovery[r.URL.Path]; ok {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		switch {
		case strings.Contains(r.URL.Path, ".k8s.io/"): // nothing defines types
			_, _ = w.Write(emptyAnswer())
		case r.URL.Query().Get("continue") == "":
			_, _ = w.Write(listAnswer("more"))
		default:
			_, _ = w.Write(listAnswer(""))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// seen returns, sorted, what was asked since the last call.
func (s *listServer) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	slices.Sort(requests)
	return requests
}
