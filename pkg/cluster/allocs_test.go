package cluster

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// padded returns objects whose labels, annotations and managedFields have the given number of
// entries each.
func padded(objects, entries int) []metav1.ObjectMeta {
	var items []metav1.ObjectMeta
	for i := range objects {
		m := metav1.ObjectMeta{
			Name: fmt.Sprintf("object-%04d", i), Namespace: "a", UID: types.UID(fmt.Sprintf("uid-%04d", i)),
			ResourceVersion: "10000001",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "uid-rs"}},
			Finalizers:      []string{"example.com/f"}, CreationTimestamp: metav1.Unix(1700000000, 0),
			Labels: map[string]string{}, Annotations: map[string]string{},
		}
		for j := range entries {
			m.Labels[fmt.Sprintf("example.com/label-%d", j)] = fmt.Sprintf("value-%d-%d", i, j)
			m.Annotations[fmt.Sprintf("example.com/annotation-%d", j)] = strings.Repeat("x", 50) + fmt.Sprint(i, j)
			m.ManagedFields = append(m.ManagedFields, managed(entries))
		}
		items = append(items, m)
	}
	return items
}

// TestAllocations: what the graph does not keep is stepped over. It never becomes a value, however
// much of it there is.
func TestAllocations(t *testing.T) {
	const objects = 200
	tests := []struct {
		encoder string
		entries int
		most    float64 // allocations for each object
	}{
		{"protobuf", 0, 1.2}, {"protobuf", 1, 1.2}, {"protobuf", 16, 1.2},
		{"json", 1, 25}, {"json", 16, 25},
	}
	for _, tt := range tests {
		body := encode(t, tt.encoder, metadataList(padded(objects, tt.entries)...))
		source := bytes.NewReader(body)
		r := bufio.NewReaderSize(source, readBuffer)
		got := testing.AllocsPerRun(5, func() {
			source.Reset(body)
			r.Reset(source)
			if err := decodePage(r, extras{}, nil, func(listMeta) {}, func(*graph.Object) {}); err != nil {
				t.Fatal(err)
			}
		}) / objects
		t.Logf("%s with %d entries, %d bytes: %.2f allocations for each object", tt.encoder, tt.entries,
			len(body)/objects, got)
		if got > tt.most {
			t.Errorf("%s with %d entries: %.2f allocations for each object, want at most %.1f", tt.encoder, tt.entries, got,
				tt.most)
		}
	}
}

// TestStringsAreKept: the object is the decoder's, its strings are not.
func TestStringsAreKept(t *testing.T) {
	body := encode(t, "protobuf", metadataList(padded(300, 3)...))
	var kept []graph.Object
	source := bytes.Clone(body)
	err := decodePage(bufio.NewReaderSize(bytes.NewReader(source), 16), extras{}, nil, func(listMeta) {},
		func(o *graph.Object) {
			kept = append(kept, graph.Object{Name: o.Name, UID: o.UID, Namespace: o.Namespace,
				ResourceVersion: o.ResourceVersion})
		})
	if err != nil {
		t.Fatal(err)
	}
	clear(source)
	for i, o := range kept {
		want := graph.Object{Name: fmt.Sprintf("object-%04d", i), UID: fmt.Sprintf("uid-%04d", i), Namespace: "a",
			ResourceVersion: "10000001"}
		if o.Name != want.Name || o.UID != want.UID || o.Namespace != want.Namespace ||
			o.ResourceVersion != want.ResourceVersion {
			t.Fatalf("object %d is %+v, want %+v", i, o, want)
		}
	}
}

// TestInterner: equal strings are one, and what is remembered is bounded.
func TestInterner(t *testing.T) {
	var in interner
	first := in.text("team-production")
	for i := range 3 * maxInterned {
		if got, want := in.text(fmt.Sprintf("name-%d", i)), fmt.Sprintf("name-%d", i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		if len(in.known) > maxInterned {
			t.Fatalf("%d strings are remembered", len(in.known))
		}
	}
	if first != "team-production" || in.text("team-production") != first {
		t.Errorf("a string changed: %q", first)
	}
}

// TestRecent: a string that came a moment ago takes no memory again, and one that takes its place
// changes neither.
func TestRecent(t *testing.T) {
	var in recent
	first := in.get([]byte("team-production"))
	for i := range 3 * len(in) {
		for _, want := range []string{fmt.Sprintf("name-%d", i), strings.Repeat("a", i%12),
			fmt.Sprintf("%d-the-same-end", i)} {
			if got := in.get([]byte(want)); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	}
	if first != "team-production" || in.get([]byte("team-production")) != first {
		t.Errorf("a string changed: %q", first)
	}
	allocations := testing.AllocsPerRun(100, func() { in.get([]byte("team-production")) })
	if allocations != 0 {
		t.Errorf("%v allocations for a string that came before", allocations)
	}
}
