package cluster

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// holding returns a store that holds a number of objects of one type, and how it is held.
func holding(t testing.TB, objects int) (*Store, *followed) {
	s := (&Client{}).NewStore(t.Context(), ListOptions{}, func(Change) {})
	of := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	listing := s.listing(&followed{})
	for i := range objects {
		listing.Add(event(i, 0))
	}
	listing.hold(ResumePoint{Type: of, ResourceVersion: "1"})
	return s, s.scopes[scopeOf(of, "")]
}

// event is an object as an event shows it, that is with strings of its own.
func event(i, version int) graph.Object {
	return graph.Object{
		Namespace: fmt.Sprintf("ns-%d", i%100), Name: fmt.Sprintf("object-%d", i),
		UID: fmt.Sprintf("00000000-0000-0000-0000-%012d", i), ResourceVersion: fmt.Sprint(version),
		Finalizers: []string{strings.Clone("example.com/hold")},
		Owners: []graph.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprintf("owner-%d", i%50),
			UID: fmt.Sprintf("owner-uid-%d", i%50)}},
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestEventsDoNotGrowAStore: objects are changed, deleted and created again under other uids, and not
// ten bytes are held for each event.
func TestEventsDoNotGrowAStore(t *testing.T) {
	const objects, events = 10_000, 200_000
	s, f := holding(t, objects)
	at := f.point
	before := heap()
	for i := range events {
		o := event(i%objects, i)
		if i%10 == 0 { // which is deleted, and comes again with the next event of its number
			s.apply(f, Change{Object: &o, Gone: true, ResumePoint: at})
			continue
		}
		s.apply(f, Change{Object: &o, ResumePoint: at})
	}
	if grown := heap() - before; grown > 10*events {
		t.Errorf("%d events have changed memory by %d bytes", events, grown)
	}
	if n := len(f.objects); n > objects {
		t.Errorf("%d objects are held of %d", n, objects)
	}
	runtime.KeepAlive(s)
}

// TestAStoreHoldsWhatEventsShow: objects that are added, changed and deleted, and no object that a
// list does not show any more.
func TestAStoreHoldsWhatEventsShow(t *testing.T) {
	s, f := holding(t, 3)
	news := 0
	s.changed = func(Change) { news++ }
	changed, created, gone := event(0, 7), event(9, 8), event(1, 9)
	s.apply(f, Change{Object: &changed, ResumePoint: f.point})
	s.apply(f, Change{Object: &created, ResumePoint: f.point})
	s.apply(f, Change{Object: &gone, Gone: true, ResumePoint: f.point})
	if got := versions(f); fmt.Sprint(got) != "map[object-0:7 object-2:0 object-9:8]" || news != 3 {
		t.Errorf("after events: %v, %d changes", got, news)
	}
	same := s.listing(f)
	for _, o := range f.objects {
		same.Add(o.Object)
	}
	s.replace(f, same.objects, f.point)
	if news != 3 {
		t.Error("the same list is told as a change")
	}
	other := s.listing(f)
	other.Add(changed)
	s.replace(f, other.objects, f.point)
	if got := versions(f); fmt.Sprint(got) != "map[object-0:7]" || news != 4 {
		t.Errorf("after another list: %v, %d changes", got, news)
	}
}

// versions are the resourceVersions that are held, by the objects' names.
func versions(f *followed) map[string]string {
	all := map[string]string{}
	for _, o := range f.objects {
		all[o.Name] = o.ResourceVersion
	}
	return all
}

// TestAStoreIsBehindUntilItHasHeardOfAWrite: it holds the object in the version that was written
// to. A watch that is not open is not waited for.
func TestAStoreIsBehindUntilItHasHeardOfAWrite(t *testing.T) {
	s, f := holding(t, 1)
	o := event(0, 0)
	s.Expect(f.point.Type, o.Namespace, o.UID, o.ResourceVersion)
	if s.behind() {
		t.Error("it waits for a watch that is not open")
	}
	f.connected = true
	if !s.behind() {
		t.Error("it has not heard of the write")
	}
	o.ResourceVersion = "1"
	s.apply(f, Change{Object: &o, ResumePoint: f.point})
	if s.behind() {
		t.Error("it has heard of the write")
	}
}
