package cluster

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestDiscoveryEndsWithItsContext: at whichever request the server is silent, discovery ends when
// its context does, and what was not answered then is asked again by the next who wants to know.
func TestDiscoveryEndsWithItsContext(t *testing.T) {
	c := testcluster.Shared(t)
	want := servedBy(t, c)
	aggregated := func(t *testing.T, config *rest.Config) *faultproxy.Proxy { return faultproxy.Start(t, config) }
	hidden := func(t *testing.T, config *rest.Config) *faultproxy.Proxy {
		proxy := faultproxy.Start(t, config)
		proxy.On(faultproxy.Groups, faultproxy.EmptyVersion("apps", "v1"))
		return proxy
	}
	for name, tt := range map[string]struct {
		path  string
		start func(*testing.T, *rest.Config) *faultproxy.Proxy
		gaps  int // that the next discovery has
	}{
		"the core group":            {"/api", aggregated, 0},
		"the other groups":          {"/apis", aggregated, 0},
		"the version of the server": {"/version", aggregated, 0},
		"a version of a group":      {"/apis/apps/v1", legacy, 0},
		"a version in doubt":        {"/apis/apps/v1", hidden, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := tt.start(t, c.Config())
			ctx, end := context.WithCancel(t.Context())
			hang, asked := faultproxy.Hang(), make(chan struct{}, 1)
			proxy.On(func(r *http.Request) bool { return r.URL.Path == tt.path },
				faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					asked <- struct{}{}
					hang(w, r, next)
				}))
			client, err := New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			client.versionWithin = time.Hour
			go func() { <-asked; end() }()
			if _, err := client.Discover(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
			got, err := client.Discover(t.Context())
			if err != nil {
				t.Fatalf("the next discovery: %v", err)
			}
			if len(got.Gaps) != tt.gaps || tt.gaps == 0 && len(got.Resources) != len(want.Resources) {
				t.Errorf("the next discovery has %d types and the gaps %v, want %d types and %d gaps", len(got.Resources), got.Gaps,
					len(want.Resources), tt.gaps)
			}
		})
	}
}
