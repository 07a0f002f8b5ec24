package graph

import (
	"fmt"
	"strings"
	"testing"
)

// TestUIDsAreKeptAsTheyAre: one of the usual form takes 16 bytes, any other its text, and none is
// taken for another.
func TestUIDsAreKeptAsTheyAre(t *testing.T) {
	uids := []string{
		"2b7a6c1e-0d6f-4c9b-9d0e-5f1a2b3c4d5e", "2B7A6C1E-0D6F-4C9B-9D0E-5F1A2B3C4D5E",
		"2b7a6c1e-0d6f-4c9b-9d0e-5f1a2b3c4d5g", "00000000-0000-0000-0000-000000000000",
		"ffffffff-ffff-ffff-ffff-ffffffffffff", "2b7a6c1e00d6f-4c9b-9d0e-5f1a2b3c4d5e", "u", strings.Repeat("long", 50_000),
		"2b7a6c1e-0d6f-4c9b-9d0e-5f1a2b3c4d5",
	}
	b := NewBuilder()
	list := b.Listing(Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}, "")
	for i, uid := range uids {
		list.Add(Object{Namespace: "a", Name: fmt.Sprint("pod-", i), UID: uid})
	}
	list.Complete()
	g := b.Build()
	for i, uid := range uids {
		id, ok := g.Lookup(uid)
		if !ok || g.Name(id) != fmt.Sprint("pod-", i) || g.Ref(id).UID != uid {
			t.Errorf("the object with uid %.50q is %v, %t", uid, g.Name(id), ok)
		}
	}
	if g.Len() != len(uids) {
		t.Errorf("%d nodes, want %d", g.Len(), len(uids))
	}
}

// TestResourceVersionsAreKeptAsTheyAre, also those that are no number as an API server writes it.
func TestResourceVersionsAreKeptAsTheyAre(t *testing.T) {
	versions := []string{"", "0", "7", "007", "+7", "-7", "18446744073709551615", "18446744073709551616", "7 ", "v7"}
	b := NewBuilder()
	list := b.Listing(Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}, "")
	for i, version := range versions {
		list.Add(Object{Namespace: "a", Name: "pod", UID: fmt.Sprint(i), ResourceVersion: "before"},
			Object{Namespace: "a", Name: "pod", UID: fmt.Sprint(i), ResourceVersion: version})
	}
	g := b.Build()
	for i, version := range versions {
		if id, _ := g.Lookup(fmt.Sprint(i)); g.ResourceVersion(id) != version {
			t.Errorf("resourceVersion %q, want %q", g.ResourceVersion(id), version)
		}
	}
}

// TestManyNodesAreInOrder: nodes of several chunks are put in order, and those of a listing that
// was begun again are found and others are not.
func TestManyNodesAreInOrder(t *testing.T) {
	const many = 2*chunkSize + 100
	pods := Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	b := NewBuilder()
	first := b.Listing(pods, "")
	for i := range many {
		first.Add(Object{Namespace: "a", Name: fmt.Sprintf("pod-%06d", many-i), UID: fmt.Sprint("uid-", i)})
	}
	first.Discard()
	again := b.Listing(pods, "")
	for i := 0; i < many; i += 2 {
		again.Add(Object{Namespace: "a", Name: fmt.Sprintf("pod-%06d", many-i), UID: fmt.Sprint("uid-", i),
			ResourceVersion: fmt.Sprint(i + 1)})
	}
	again.Complete()
	g := b.Build()
	if g.Len() != many/2 {
		t.Fatalf("%d nodes, want %d", g.Len(), many/2)
	}
	for i := range many {
		id, ok := g.Lookup(fmt.Sprint("uid-", i))
		if ok != (i%2 == 0) {
			t.Fatalf("uid-%d is found: %t", i, ok)
		}
		if ok && (g.Name(id) != fmt.Sprintf("pod-%06d", many-i) || g.ResourceVersion(id) != fmt.Sprint(i+1)) {
			t.Fatalf("uid-%d is %s in version %s", i, g.Name(id), g.ResourceVersion(id))
		}
	}
	for id := ID(1); int(id) < g.Len(); id++ {
		if g.Name(id-1) >= g.Name(id) {
			t.Fatalf("%s stands before %s", g.Name(id-1), g.Name(id))
		}
	}
}

// TestHashesOfOneNameDiffer: an owner that is named in each of many namespaces does not make one
// list of all these references.
func TestHashesOfOneNameDiffer(t *testing.T) {
	low := map[uint32]bool{}
	const many = 10_000
	for ns := range int32(many) {
		low[hashCoordinates(1, ns, "owner")&(1<<20-1)] = true
	}
	if len(low) < many*9/10 {
		t.Errorf("%d of %d hashes differ in their low bits", len(low), many)
	}
}

// TestFirstReferenceMaySayNothing: a reference without any word in it is that of no other object.
func TestFirstReferenceMaySayNothing(t *testing.T) {
	b := NewBuilder()
	list := b.Listing(Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}, "")
	list.Add(Object{Namespace: "a", Name: "pod", UID: "uid", Owners: []OwnerReference{{}}})
	list.Complete()
	g := b.Build()
	id, _ := g.Lookup("uid")
	for e := range g.Owners(id) {
		if e.Owner == id || e.Problem&SelfReference != 0 {
			t.Errorf("the reference leads to the object itself: %+v", e)
		}
	}
}
