// Package record watches the objects of all types and records which are created, when their
// deletion begins, and when they are gone. It reads metadata only.
//
// Each type has a watch of its own, and watches do not keep step with each other. Events are sorted
// by resourceVersion. etcd has one counter for all types, so this is the order in which the server
// made the changes.
package record

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Recorder records events.
type Recorder struct {
	types []*watched

	mu     sync.Mutex
	events []Event
	failed error
}

// Start starts a recorder of the types that are served now, except Events and Leases. No change
// after Start returns is missed. The recorder ends with the test, and a test that fails prints the
// history.
func Start(t testing.TB, config *rest.Config) *Recorder {
	t.Helper()
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // of types that are deprecated
	client, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := watchable(config)
	if err != nil {
		t.Fatalf("finding the types to record: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &Recorder{}
	var listing errgroup.Group
	listing.SetLimit(8)
	for _, resource := range resources {
		w := &watched{recorder: r, resource: resource.GroupResource(), client: client.Resource(resource)}
		r.types = append(r.types, w)
		listing.Go(func() error { return w.begin(ctx) })
	}
	if err := listing.Wait(); err != nil {
		cancel()
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for _, w := range r.types {
		running.Go(func() { w.watch(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if t.Failed() {
			t.Logf("recorded:\n%s", r.History())
		}
	})
	return r
}

// History gives the events recorded so far. Settle waits for those that are still on their way.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := slices.Clone(r.events)
	slices.SortStableFunc(h, func(a, b Event) int {
		switch {
		case a.Version < b.Version:
			return -1
		case a.Version > b.Version:
			return 1
		}
		return 0
	})
	return h
}

// Settle waits until all watches have caught up with the server, and gives the history. An event
// that is not in it had not happened when Settle was called.
func (r *Recorder) Settle(t testing.TB) History {
	t.Helper()
	for _, w := range r.types {
		testcluster.Eventually(t, "the watch of "+w.resource.String()+" has caught up", w.caughtUp)
	}
	if err := r.err(); err != nil {
		t.Fatal(err)
	}
	return r.History()
}

// Until waits until the history fulfils a condition, settles, and gives the history.
func (r *Recorder) Until(t testing.TB, what string, holds func(History) bool) History {
	t.Helper()
	testcluster.Eventually(t, what, func(context.Context) (bool, error) { return holds(r.History()), r.err() })
	return r.Settle(t)
}

func (r *Recorder) add(kind Kind, s seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, Event{Kind: kind, Object: s.object, Version: s.version, Seen: time.Now(),
		Finalizers: s.finalizers})
}

func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
}

func (r *Recorder) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}
