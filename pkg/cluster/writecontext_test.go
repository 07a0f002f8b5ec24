package cluster

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWriteUnderWayIsAnswered: whoever gives up while a write is under way learns what came of it;
// one that was not sent yet is not, and one that is never answered is given up.
func TestWriteUnderWayIsAnswered(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 1))
	noLeaks(t)
	proxy := faultproxy.Start(t, c.Config())
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := client.GetMeta(t.Context(), configMapType, ns, "c000")
	if err != nil {
		t.Fatal(err)
	}
	release := Unchanged(o.UID, "")
	patch := func(ctx context.Context) error {
		_, err := client.Patch(ctx, configMapType, ns, "c000",
			append(release, PatchStep{Op: "add", Path: "/metadata/labels/x", Value: "y"}), PatchOptions{})
		return err
	}
	ctx, giveUp := context.WithCancelCause(t.Context())
	gaveUp := errors.New("gave up")
	proxy.On(patches, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		giveUp(gaveUp)
		next.ServeHTTP(w, r)
	})
	if err := patch(ctx); err != nil {
		t.Errorf("a patch that was under way: %v", err)
	}
	if err := patch(ctx); !errors.Is(err, gaveUp) {
		t.Errorf("a patch after that: %v", err)
	}
	ctx, giveUp = context.WithCancelCause(t.Context())
	hang := faultproxy.Hang()
	proxy.On(patches, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		giveUp(gaveUp)
		hang(w, r, next)
	})
	began := time.Now()
	if err := patch(ctx); err == nil || time.Since(began) < answerTime {
		t.Errorf("a patch without an answer ends after %s: %v", time.Since(began), err)
	}
	if n := len(proxy.Requests()); n != 3 {
		t.Errorf("%d requests, want a read and two patches", n)
	}
}

func patches(r *http.Request) bool { return r.Method == http.MethodPatch }
