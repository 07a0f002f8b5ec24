package cluster

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAStoreShowsATypeThatDiscoveryLeavesOutWhileDefinitionsAreNotWatched: a server that has just
// started has broken all watches, and its discovery does not have the custom types yet. The
// definitions are watched again before the listing ends, so that nothing of that is a gap.
func TestAStoreShowsATypeThatDiscoveryLeavesOutWhileDefinitionsAreNotWatched(t *testing.T) {
	c := testcluster.Shared(t) // not beside others, which would see the type come and go
	ns := c.Namespace(t)
	group := ns + ".example.com"
	install(t, c, group, definition(group, oneVersion))
	c.Apply(t, widget(group, "v1", ns, "there"))
	proxy := faultproxy.Start(t, c.Config())
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	shows := storeOn(t, client, ns)
	shows()
	shows() // which watches
	var broken atomic.Int32
	proxy.On(faultproxy.Groups, faultproxy.WithoutGroup(group))
	proxy.On(faultproxy.Watches("/customresourcedefinitions"),
		faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			faultproxy.Plain(http.StatusBadGateway, "bad gateway")(w, r, next)
			broken.Add(1)
		}))
	proxy.Cut()
	testcluster.Eventually(t, "the watch of definitions is broken",
		func(context.Context) (bool, error) { return broken.Load() > 0, nil })
	if got, listed := shows(); !strings.Contains(strings.Join(got, " "), "Widget") && len(listed.Gaps) == 0 {
		t.Errorf("it shows %v, and no gap", got)
	}
}

// TestAStoreGoesOnWatchingAfterEverythingWasForbiddenForAMoment: as by a server that has just
// started and has not read the roles yet. Types are not listed for ever instead of being watched,
// and the store does not end.
func TestAStoreGoesOnWatchingAfterEverythingWasForbiddenForAMoment(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 1))
	proxy := faultproxy.Start(t, c.Config())
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int32
	s := client.WithPollInterval(20*time.Millisecond).NewStore(t.Context(), ListOptions{Namespace: ns},
		func(change Change) {
			if change.Object == nil && change.ResumePoint.Type.Resource == "configmaps" {
				seen.Add(1)
			}
		})
	t.Cleanup(s.Close)
	catalog, err := client.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.List(t.Context(), client, catalog, graph.NewBuilder(), nil); err != nil {
		t.Fatal(err)
	}
	s.Follow()
	var forbidden atomic.Bool
	var refused, watched atomic.Int32
	forbid := faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "the roles are not read yet")
	proxy.On(func(r *http.Request) bool {
		is := strings.HasSuffix(r.URL.Path, "/configmaps")
		switch {
		case forbidden.Load() && is:
			refused.Add(1)
		case is && r.URL.Query().Get("watch") == "true":
			watched.Add(1)
		}
		return forbidden.Load()
	}, forbid)
	testcluster.Eventually(t, "the config maps are watched",
		func(context.Context) (bool, error) { return watched.Load() > 0, nil })
	forbidden.Store(true)
	proxy.Cut()
	testcluster.Eventually(t, "they can neither be watched nor listed",
		func(context.Context) (bool, error) { return refused.Load() > 2, nil })
	if listed, _, err := s.List(t.Context(), client, catalog, graph.NewBuilder(), nil); err != nil ||
		len(gapsOf(listed, "configmaps")) != 1 {
		t.Errorf("what is forbidden is no gap: %v, %v", listed, err)
	}
	before := watched.Load()
	if seen.Load() != 0 {
		t.Error("the gap is said to be closed")
	}
	forbidden.Store(false)
	testcluster.Eventually(t, "the gap is closed, and that is said",
		func(context.Context) (bool, error) { return seen.Load() == 1, nil })
	testcluster.Eventually(t, "they are watched again",
		func(context.Context) (bool, error) { return watched.Load() > before, nil })
	c.Apply(t, configMaps(ns, 3))
	testcluster.Eventually(t, "the store shows what was made", func(context.Context) (bool, error) {
		b := graph.NewBuilder()
		listed, _, err := s.List(t.Context(), client, catalog, b, nil)
		// A type of another test's, which was there when discovery was asked, may be gone.
		return err == nil && len(gapsOf(listed, "configmaps")) == 0 && len(dump(b.Build(), ns)) >= 3, err
	})
	select {
	case err := <-s.Ended():
		t.Errorf("the store has ended: %v", err)
	default:
	}
}

// TestAStoreEndsWhereNothingMayBeSeenForAWhile: permissions that are missing for longer than a
// server takes to start will not come back by themselves.
func TestAStoreEndsWhereNothingMayBeSeenForAWhile(t *testing.T) {
	s, f := holding(t, 1)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", nil)
	s.unlisted(f, forbidden)
	select {
	case err := <-s.Ended():
		t.Fatalf("it ends at once: %v", err)
	default:
	}
	f.refusedSince = f.refusedSince.Add(-refusedFor)
	s.unlisted(f, forbidden)
	if err := <-s.Ended(); !errors.As(err, new(*UnseenError)) {
		t.Errorf("it ends with %v", err)
	}
}
