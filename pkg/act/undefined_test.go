package act

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestTheEndOfATypeIsTheEndOfItsObjects: the watch was cut off before a custom resource went, and
// when it is looked for its type is not served any more. That the definition is gone is the
// witness; a server that merely does not serve the type is none.
func TestTheEndOfATypeIsTheEndOfItsObjects(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "types", testcluster.NoControllers())
	for i, test := range []struct {
		name    string
		objects int
		kept    bool // the definition stays, and nothing is served
	}{{"one object", 1, false}, {"more than are read one by one", readAlone + 1, false}, {"not served", 1, true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kind := fixture.Kind{Group: fmt.Sprintf("undefined%d.example.com", i), Kind: "Widget"}
			fixture.Define(t, c, kind)
			ns := c.Namespace(t)
			var manifests strings.Builder
			for n := range test.objects {
				fmt.Fprintf(&manifests, "---\napiVersion: %s/v1\nkind: Widget\nmetadata: {name: w%d, namespace: %s}\n",
					kind.Group, n, ns)
			}
			c.Apply(t, manifests.String())
			proxy := faultproxy.Start(t, c.Config())
			listed := fixture.List(t, proxy.Config(), cluster.ListOptions{Namespace: ns})
			var roots []graph.ID
			for n := range test.objects {
				roots = append(roots, listed.Find(t, kind.Group, "widgets", ns, fmt.Sprintf("w%d", n)))
			}
			p := plan.New(listed.Graph, roots, plan.Background, plan.Options{})
			ofWidgets := func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/apis/"+kind.Group+"/")
			}
			unserved := faultproxy.Plain(404, "404 page not found")
			proxy.On(ofWidgets, unserved)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			if test.kept {
				ctx, cancel = context.WithTimeout(t.Context(), lookAfter+time.Second)
				defer cancel()
			} else {
				proxy.On(watches("widgets"), func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
					if _, err := c.Try(r.Context(), "", "delete", "crd", "widgets."+kind.Group, "--ignore-not-found"); err != nil {
						t.Error(err)
					}
					unserved(w, r, nil)
				})
			}
			var told record
			result, err := Run(ctx, listed.Client, p, told.options(listed.ResumePoints, true))
			if (err != nil) != test.kept || (len(result.Blocked) > 0) != test.kept {
				t.Errorf("%v, left %v", err, result.Blocked)
			}
		})
	}
}
