package synthetic

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

func start(t *testing.T, s Shape) *Server {
	t.Helper()
	server := Start(s)
	t.Cleanup(server.Close)
	return server
}

// TestListsAreWhatClientGoReads: its metadata client reads protobuf in pages, its dynamic client
// JSON, and both read the same objects in the order of a server.
func TestListsAreWhatClientGoReads(t *testing.T) {
	t.Parallel()
	shape := Shape{Objects: 1000, Types: 80, Absent: 5}
	config := start(t, shape).Config()
	asMetadata, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, k := range newWorld(shape).kinds {
		if k.only != nil {
			continue
		}
		gvr := schema.GroupVersionResource{Group: k.group, Version: k.version, Resource: k.resource}
		metas, next := []metav1.PartialObjectMetadata{}, ""
		for page := 0; page == 0 || next != ""; page++ {
			list, err := asMetadata.Resource(gvr).List(t.Context(), metav1.ListOptions{Limit: 70, Continue: next})
			if err != nil {
				t.Fatalf("%s: %v", k.resource, err)
			}
			metas, next = append(metas, list.Items...), list.Continue
		}
		objects, err := whole.Resource(gvr).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatalf("%s: %v", k.resource, err)
		}
		if len(metas) != k.count || len(objects.Items) != k.count {
			t.Fatalf("%s: %d as metadata and %d as objects, want %d", k.resource, len(metas), len(objects.Items), k.count)
		}
		for i := range metas {
			m, o := &metas[i], &objects.Items[i]
			if m.GetUID() != o.GetUID() || m.Name != o.GetName() || m.Namespace != o.GetNamespace() ||
				m.ResourceVersion != o.GetResourceVersion() ||
				!m.CreationTimestamp.Equal(new(o.GetCreationTimestamp())) ||
				!cmp.Equal(owners(m.OwnerReferences), owners(o.GetOwnerReferences())) {
				t.Fatalf("%s: %v and %v are not the same", k.resource, m, o)
			}
		}
		if !slices.IsSortedFunc(metas, func(a, b metav1.PartialObjectMetadata) int {
			return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
		}) {
			t.Errorf("%s are not in order", k.resource)
		}
		total += k.count
	}
	if total != shape.Total() {
		t.Errorf("%d objects, want %d", total, shape.Total())
	}
}

// owners are references without the flags that JSON has as false and protobuf as nothing.
func owners(all []metav1.OwnerReference) []metav1.OwnerReference {
	out := slices.Clone(all)
	for i := range out {
		out[i].Controller = new(out[i].Controller != nil && *out[i].Controller)
		out[i].BlockOwnerDeletion = new(out[i].BlockOwnerDeletion != nil && *out[i].BlockOwnerDeletion)
	}
	return out
}

// TestOwnersExist: each reference names an object that a read returns with its uid, but for those
// to an owner that is absent on purpose.
func TestOwnersExist(t *testing.T) {
	t.Parallel()
	shape := Shape{Objects: 500, Types: 70, Absent: 3}
	client, err := metadata.NewForConfig(start(t, shape).Config())
	if err != nil {
		t.Fatal(err)
	}
	absent := 0
	for _, k := range newWorld(shape).kinds {
		if k.ownersOf == nil {
			continue
		}
		for i := range k.count {
			for _, o := range k.ownersOf(i, nil) {
				namespace := ""
				if o.to.namespaced {
					namespace = newWorld(shape).namespaces.name(k.namespaceOf(i))
				}
				read, err := client.Resource(schema.GroupVersionResource{Group: o.to.group, Version: o.to.version,
					Resource: o.to.resource}).Namespace(namespace).
					Get(t.Context(), o.to.name(o.i), metav1.GetOptions{})
				switch {
				case err != nil && o.to.prefix == "absent":
					absent++
				case err != nil:
					t.Fatal(err)
				case string(read.UID) != string(o.to.appendUID(nil, o.i)):
					t.Fatalf("%s has uid %s, not that of the reference", read.Name, read.UID)
				}
			}
		}
	}
	if absent != shape.Absent {
		t.Errorf("%d references to an absent owner, want %d", absent, shape.Absent)
	}
}

// TestMillionObjectsAreNotHeld: neither what is started nor a page of it takes memory for objects.
func TestMillionObjectsAreNotHeld(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := newWorld(Shape{Objects: 1_000_000, Types: 500})
	s := &Server{world: w, kinds: map[string]*kind{}}
	for _, k := range w.kinds {
		s.kinds[k.path()] = k
	}
	written := &discard{header: http.Header{}}
	r := httptest.NewRequest(http.MethodGet, "/api/v1/configmaps?limit=100000", nil)
	r.Header.Set("Accept", protobufType+";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	s.ServeHTTP(written, r)
	runtime.ReadMemStats(&after)
	const most = 4 << 20
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most || written.n < 50_000_000 {
		t.Errorf("a page of %d bytes took %d bytes of memory, want at most %d", written.n, allocated, most)
	}
}

// discard counts what is written to it.
type discard struct {
	header http.Header
	n      int
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(int)     {}
func (d *discard) Write(p []byte) (int, error) {
	d.n += len(p)
	return io.Discard.Write(p)
}
