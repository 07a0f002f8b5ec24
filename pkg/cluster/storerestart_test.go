package cluster

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAStoreShowsATypeThatDiscoveryLeavesOutWhileDefinitionsAreNotWatched: a server that has just started has broken all watches, and its discovery does not
// have the custom types yet. The definitions are watched again before the listing ends, so that nothing of that is a gap.
func TestAStoreShowsATypeThatDiscoveryLeavesOutWhileDefinitionsAreNotWatched(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
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
	proxy.On(faultproxy.Watches("/customresourcedefinitions"), faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		faultproxy.Plain(http.StatusBadGateway, "bad gateway")(w, r, next)
		broken.Add(1)
	}))
	proxy.Cut()
	testcluster.Eventually(t, "the watch of definitions is broken", func(context.Context) (bool, error) { return broken.Load() > 0, nil })
	if got, listed := shows(); !strings.Contains(strings.Join(got, " "), "Widget") && len(listed.Gaps) == 0 {
		t.Errorf("it shows %v, and no gap", got)
	}
}
