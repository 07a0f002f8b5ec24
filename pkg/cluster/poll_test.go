package cluster

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" }

// heard are the changes that a watch has told of.
type heard struct {
	mu      sync.Mutex
	changes []Change
}

func (h *heard) changed(c Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes = append(h.changes, c)
}

func (h *heard) have(is func(Change) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.changes, is)
}

func (h *heard) until(t *testing.T, what string, is func(Change) bool) {
	t.Helper()
	testcluster.Eventually(t, what, func(context.Context) (bool, error) { return h.have(is), nil })
}

// TestWatchListsATypeThatMayNotBeWatched: what is created, changed and deleted is heard of all the
// same, by lists in the namespace that was asked for.
func TestWatchListsATypeThatMayNotBeWatched(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]faultproxy.Fault{
		"403": faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "cannot watch"),
		"405": faultproxy.Status(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "not supported"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			ns := c.Namespace(t)
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(isWatch, refused)
			client, err := New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			configMap := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
			c.Kubectl(t, "create", "configmap", "first", "-n", ns)
			position, err := client.ForEachMeta(t.Context(), configMap, ns, func(*graph.Object) {})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			var h heard
			go func() {
				ended <- client.WithPollInterval(10*time.Millisecond).Watch(ctx, []ResumePoint{position}, h.changed)
			}()
			h.until(t, "what there is was told", func(c Change) bool { return c.Object == nil && len(c.Relisted) == 1 })
			c.Kubectl(t, "create", "configmap", "second", "-n", ns)
			h.until(t, "the second was heard of",
				func(c Change) bool { return c.Object != nil && c.Object.Name == "second" && !c.Gone })
			c.Kubectl(t, "patch", "configmap", "first", "-n", ns, "--type=merge", "-p",
				`{"metadata":{"finalizers":["example.com/hold"]}}`)
			h.until(t, "the finalizer was heard of", func(c Change) bool {
				return c.Object != nil && c.Object.Name == "first" && len(c.Object.Finalizers) == 1
			})
			h.mu.Lock()
			h.changes = nil
			h.mu.Unlock()
			c.Kubectl(t, "delete", "configmap", "second", "-n", ns)
			h.until(t, "it was heard that the second is gone",
				func(c Change) bool { return c.Object == nil && len(c.Relisted) == 1 })
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			for _, r := range proxy.Requests() {
				if want := "/api/v1/namespaces/" + ns + "/configmaps"; r.Path != want && r.Path != "/version" {
					t.Errorf("it asked for %s, want %s", r.Path, want)
				}
			}
		})
	}
}

// TestWatchSaysWhatItCannotSee: a type that may neither be watched nor listed brings no change that
// could be taken for its absence, until it may be listed again. If there is nothing else, there is
// nothing to wait for.
func TestWatchSaysWhatItCannotSee(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	var blind, all atomic.Bool
	blind.Store(true)
	forbidden := faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "cannot see")
	proxy.On(func(r *http.Request) bool { return isWatch(r) && faultproxy.Path("/secrets")(r) }, forbidden)
	proxy.On(func(r *http.Request) bool { return (blind.Load() || all.Load()) && faultproxy.Path("/secrets")(r) },
		forbidden)
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	secrets := ResumePoint{Type: graph.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true},
		Namespace: ns, ResourceVersion: "1"}
	position, err := client.ForEachMeta(t.Context(),
		graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}, ns, func(*graph.Object) {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client = client.WithPollInterval(10 * time.Millisecond)
	var h heard
	ended := make(chan error, 1)
	go func() { ended <- client.Watch(ctx, []ResumePoint{position, secrets}, h.changed) }()
	testcluster.Eventually(t, "the secrets are listed in vain", func(context.Context) (bool, error) {
		lists := slices.DeleteFunc(proxy.Requests(), func(r faultproxy.Request) bool { return !strings.HasSuffix(r.Path, "/secrets") })
		return len(lists) > 2, nil
	})
	h.mu.Lock()
	for _, c := range h.changes {
		if c.ResumePoint.Type.Resource == "secrets" {
			t.Errorf("heard %+v of what is not seen", c)
		}
	}
	h.mu.Unlock()
	blind.Store(false)
	h.until(t, "the secrets were listed",
		func(c Change) bool { return c.Object == nil && c.ResumePoint.Type.Resource == "secrets" })
	cancel()
	<-ended

	all.Store(true)
	err = client.Watch(t.Context(), []ResumePoint{secrets}, h.changed)
	var unseen *UnseenError
	if !errors.As(err, &unseen) || unseen.Type.Resource != "secrets" || unseen.Namespace != ns ||
		!apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}
