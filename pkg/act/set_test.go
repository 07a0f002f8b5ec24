package act

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// prepareSetting plans the deletion of a config map that says in a field how a program deletes
// another one.
func prepareSetting(t *testing.T, c *testcluster.Cluster, proxy *faultproxy.Proxy, ns, field string) (*cluster.Client,
	*plan.Plan) {
	t.Helper()
	c.Apply(t, manifest(ns, "claim", "composite"))
	c.Kubectl(t, "patch", "configmap", "claim", "-n", ns, "--type=merge", "-p", `{"data":{"policy":"Background"}}`)
	client, p, _ := prepare(t, proxy.Config(), ns, plan.Foreground, "claim")
	path, err := link.ParsePath(field)
	if err != nil {
		t.Fatal(err)
	}
	d := &link.Definition{Name: "composite",
		Deletion: link.Deletion{Of: link.End, By: "a program", PolicyField: path, Foreground: "Foreground"}}
	composite, _ := p.Graph.Find("", "configmaps", ns, "composite")
	links := link.New(p.Graph, link.Found{Definition: d, Source: p.Roots[0], End: composite, Foreground: true,
		Effect: link.Effect{Deletes: true, Policy: link.Foreground}})
	return client, plan.New(p.Graph, p.Roots, plan.Foreground, plan.Options{Links: links})
}

func policyOf(t *testing.T, c *testcluster.Cluster, ns string) string {
	t.Helper()
	return c.Kubectl(t, "get", "configmap", "claim", "-n", ns, "-o", "jsonpath={.data.policy}")
}

// TestPolicyIsSetBeforeTheFirstDelete, also of an object that is changed meanwhile, which needs no
// new plan.
func TestPolicyIsSetBeforeTheFirstDelete(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, change := range map[string]string{"nothing is changed": "",
		"a label is added": `{"metadata":{"labels":{"any":"thing"}}}`} {
		t.Run(name, func(t *testing.T) {
			ns := c.Namespace(t)
			proxy := faultproxy.Start(t, c.Config())
			client, p := prepareSetting(t, c, proxy, ns, "data.policy")
			proxy.On(patches, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if change != "" {
					c.Kubectl(t, "patch", "configmap", "claim", "-n", ns, "--type=merge", "-p", change)
				}
				next.ServeHTTP(w, r)
			}))
			proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if got := policyOf(t, c, ns); got != "Foreground" {
					t.Errorf("at the delete the policy is %q", got)
				}
				next.ServeHTTP(w, r)
			})
			var told record
			result, err := Run(t.Context(), client, p, told.options(nil, false))
			if err != nil || len(result.Done) != 2 || len(result.Failed)+len(result.Skipped) != 0 {
				t.Errorf("%v, result %+v; want a patch and a delete", err, result)
			}
		})
	}
}

// TestNothingIsDeletedIfThePolicyIsNotSet: the patch is refused, what it sets is not stored, or the
// object is another one by then.
func TestNothingIsDeletedIfThePolicyIsNotSet(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	undo := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		ns := strings.Split(r.URL.Path, "/")[4]
		c.Kubectl(t, "patch", "configmap", "claim", "-n", ns, "--type=merge", "-p", `{"data":{"policy":"Background"}}`)
	}
	for name, test := range map[string]struct {
		field string
		fault faultproxy.Fault
		want  string
	}{
		"refused":               {"data.policy", faultproxy.Status(403, "Forbidden", "you may not"), "you may not"},
		"undone":                {"data.policy", undo, "the object lacks it"},
		"of a field in a list":  {"data[*].policy", faultproxy.Times(0, faultproxy.Hang()), "in a list"},
		"of no field of a type": {"metadata.policy", faultproxy.Times(0, faultproxy.Hang()), "the object lacks it"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := c.Namespace(t)
			proxy := faultproxy.Start(t, c.Config())
			client, p := prepareSetting(t, c, proxy, ns, test.field)
			proxy.On(patches, test.fault)
			var told record
			result, err := Run(t.Context(), client, p, told.options(nil, false))
			if err != nil || len(result.Done) != 0 || len(result.Failed) != 1 || len(result.Skipped) != 1 {
				t.Fatalf("%v, result %+v; want a failed patch and a skipped delete", err, result)
			}
			if got := result.Failed[0].Err.Error(); !strings.Contains(got,
				"nothing was deleted: "+test.field+` of configmaps "claim" cannot be set to Foreground: `) ||
				!strings.Contains(got, test.want) {
				t.Errorf("error: %s", got)
			}
			for _, r := range proxy.Requests() {
				if r.Method == http.MethodDelete {
					t.Errorf("%s %s was sent", r.Method, r.Path)
				}
			}
		})
	}
}

// TestPolicyOfAReplacedObjectIsNotSet.
func TestPolicyOfAReplacedObjectIsNotSet(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	client, p := prepareSetting(t, c, proxy, ns, "data.policy")
	c.Kubectl(t, "delete", "configmap", "claim", "-n", ns)
	c.Apply(t, manifest(ns, "claim"))
	var told record
	result, err := Run(t.Context(), client, p, told.options(nil, false))
	if err != nil || len(result.Done)+len(result.Failed) != 0 {
		t.Errorf("%v, result %+v; want nothing done", err, result)
	}
	if got := policyOf(t, c, ns); got != "" {
		t.Errorf("the policy of the new object is %q", got)
	}
}

// TestPolicyIsNotSetInAnObjectThatIsNotWhatWasPlanned: one that has another finalizer by then is
// planned again, and one that is not meant any more is left alone.
func TestPolicyIsNotSetInAnObjectThatIsNotWhatWasPlanned(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		change string
		meant  bool
		again  int
	}{
		"a finalizer is added":    {`{"metadata":{"finalizers":["example.com/hold"]}}`, true, 1},
		"it is not meant anymore": {`{"metadata":{"labels":{"app":"other"}}}`, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ns := c.Namespace(t)
			proxy := faultproxy.Start(t, c.Config())
			client, p := prepareSetting(t, c, proxy, ns, "data.policy")
			c.Kubectl(t, "patch", "configmap", "claim", "-n", ns, "--type=merge", "-p", test.change)
			t.Cleanup(func() {
				c.Kubectl(t, "patch", "configmap", "claim", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
			})
			var told record
			opts, again := told.options(nil, false), 0
			opts.Meant = func(context.Context, graph.Type, graph.Ref) (bool, error) { return test.meant, nil }
			opts.Replan = func(context.Context, []graph.Ref) (Replanned, error) {
				again++
				return Replanned{}, errors.New("not now")
			}
			result, err := Run(t.Context(), client, p, opts)
			if err != nil || len(result.Done) != 0 || again != test.again {
				t.Errorf("%v, result %+v, planned again %d times, want %d", err, result, again, test.again)
			}
			if got := policyOf(t, c, ns); got != "Background" {
				t.Errorf("the policy is %q", got)
			}
		})
	}
}
