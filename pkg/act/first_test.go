package act

import (
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// prepareFirst plans the deletion of a claim whose program would delete the composite in the
// background.
func prepareFirst(t *testing.T, c *testcluster.Cluster) (ns string, proxy *faultproxy.Proxy, client *cluster.Client,
	p *plan.Plan) {
	t.Helper()
	ns, proxy = behindProxy(t, c, "claim", "composite")
	client, alone, _ := prepare(t, proxy.Config(), ns, plan.Foreground, "claim")
	d := &link.Definition{Name: "composite",
		Deletion: link.Deletion{Of: link.End, By: "a program", Foreground: "Foreground"}}
	composite, _ := alone.Graph.Find("", "configmaps", ns, "composite")
	links := link.New(alone.Graph,
		link.Found{Definition: d, Source: alone.Roots[0], End: composite, Confirmed: true,
			Effect: link.Effect{Deletes: true, Policy: link.Background}})
	return ns, proxy, client, plan.New(alone.Graph, alone.Roots, plan.Foreground, plan.Options{Links: links})
}

// deleted are the names of the objects whose DELETE was sent, in their order.
func deleted(proxy *faultproxy.Proxy) []string {
	var names []string
	for _, r := range proxy.Requests() {
		if r.Method == http.MethodDelete {
			names = append(names, path.Base(r.Path))
		}
	}
	return names
}

// TestCompositeIsDeletedBeforeTheClaim: the second DELETE is sent when the first is answered.
func TestCompositeIsDeletedBeforeTheClaim(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, proxy, client, p := prepareFirst(t, c)
	proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if of := path.Base(r.URL.Path); of == "claim" &&
			c.Kubectl(t, "get", "configmap", "composite", "-n", ns, "-o",
				"jsonpath={.metadata.finalizers}") != `["foregroundDeletion"]` {
			t.Error("at the delete of the claim the composite is not being deleted in the foreground")
		}
		next.ServeHTTP(w, r)
	})
	var told record
	result, err := Run(t.Context(), client, p, told.options(nil, false))
	if err != nil || len(result.Done) != 2 || len(result.Failed)+len(result.Skipped) != 0 {
		t.Fatalf("%v, result %+v; want two deletes", err, result)
	}
	if got := deleted(proxy); !slices.Equal(got, []string{"composite", "claim"}) {
		t.Errorf("deleted were %v", got)
	}
}

// TestClaimIsNotDeletedIfTheCompositeIsNot: the server refuses, or the composite is not what was
// planned.
func TestClaimIsNotDeletedIfTheCompositeIsNot(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	t.Run("refused", func(t *testing.T) {
		_, proxy, client, p := prepareFirst(t, c)
		proxy.On(deletes, faultproxy.Status(409, "Conflict", "it is in use"))
		var told record
		result, err := Run(t.Context(), client, p, told.options(nil, false))
		if err != nil || len(result.Done) != 0 || len(result.Failed) != 1 || len(result.Skipped) != 1 ||
			!strings.Contains(result.Failed[0].Err.Error(), "it is in use") {
			t.Errorf("%v, result %+v; want a failed delete and a skipped one", err, result)
		}
		if got := deleted(proxy); slices.Contains(got, "claim") {
			t.Errorf("deleted were %v", got)
		}
	})
	t.Run("changed", func(t *testing.T) {
		ns, proxy, client, p := prepareFirst(t, c)
		c.Kubectl(t, "patch", "configmap", "composite", "-n", ns, "--type=merge", "-p",
			`{"metadata":{"finalizers":["example.com/hold"]}}`)
		t.Cleanup(func() {
			c.Kubectl(t, "patch", "configmap", "composite", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		})
		var told record
		opts := told.options(nil, false)
		var again []string
		opts.Replan = func(_ context.Context, roots []graph.Ref) (Replanned, error) {
			for _, r := range roots {
				again = append(again, r.Name)
			}
			return Replanned{}, errors.New("not now")
		}
		result, err := Run(t.Context(), client, p, opts)
		if err != nil || len(result.Done) != 0 || !slices.Equal(again, []string{"claim"}) {
			t.Errorf("%v, result %+v, planned again %v", err, result, again)
		}
		if got := deleted(proxy); slices.Contains(got, "claim") {
			t.Errorf("deleted were %v", got)
		}
	})
}
