package act

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWhatAProgramLeavesAlone is said to be kept once all that was to have it deleted was seen to
// be gone, and it was read a while after that. Source and second name the target, and are deleted;
// program plays the program after it has removed its finalizer from source.
func TestWhatAProgramLeavesAlone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		program func(t *testing.T, proxy *faultproxy.Proxy, ns string)
		after   time.Duration
		roots   []string
		within  time.Duration
		want    []string
	}{
		"that leaves it":             {after: probeAfter, want: []string{"below", "target"}},
		"that may be about to act":   {after: probeAfter - time.Second},
		"that has no finalizer":      {after: time.Minute, within: time.Minute, want: []string{"below", "target"}},
		"that has none and time":     {after: time.Minute - time.Second, within: time.Minute},
		"that may act for the other": {after: probeAfter, roots: []string{"source", "second"}},
		"that may act for one that others delete": {after: probeAfter, program: func(t *testing.T, _ *faultproxy.Proxy, ns string) {
			c.Kubectl(t, "delete", "configmap", "second", "-n", ns, "--wait=false")
		}},
		"that may act for one that cannot be read": {after: probeAfter, program: func(_ *testing.T, proxy *faultproxy.Proxy, _ string) {
			proxy.On(reads("second"), faultproxy.Status(500, "InternalError", "no"))
		}},
		"that acts in the end": {after: probeAfter, program: func(t *testing.T, proxy *faultproxy.Proxy, ns string) {
			proxy.On(reads("target"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				c.Kubectl(t, "delete", "configmap", "target", "-n", ns)
				next.ServeHTTP(w, r)
			})
		}},
		"that begins in the end": {after: probeAfter, program: func(t *testing.T, proxy *faultproxy.Proxy, ns string) {
			c.Kubectl(t, "patch", "configmap", "target", "-n", ns, "-p", `{"metadata":{"finalizers":["example.com/x"]}}`)
			c.Kubectl(t, "delete", "configmap", "target", "-n", ns, "--wait=false")
		}},
		"of which nothing is known": {after: probeAfter, program: func(_ *testing.T, proxy *faultproxy.Proxy, _ string) {
			proxy.On(reads("target"), faultproxy.Status(500, "InternalError", "no"))
		}},
		"and has a new owner": {after: probeAfter, program: func(t *testing.T, _ *faultproxy.Proxy, ns string) {
			c.Kubectl(t, "patch", "configmap", "target", "-n", ns, "-p",
				`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"x"}]}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns, proxy := behindProxy(t, c, "target")
			c.Apply(t, fixture.ConfigMap(ns, "source", "example.com/x")+fixture.ConfigMap(ns, "second", "example.com/x"))
			uid := c.Kubectl(t, "get", "configmap", "target", "-n", ns, "-o", "jsonpath={.metadata.uid}")
			c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: below, namespace: `+ns+
				`, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: target, uid: `+uid+`}]}}`)
			listed := fixture.List(t, proxy.Config(), cluster.ListOptions{Namespace: ns})
			find := func(name string) graph.ID { return listed.Find(t, "", "configmaps", ns, name) }
			deletion := link.Deletion{Of: link.End, Finalizer: "example.com/x"}
			if test.within != 0 {
				deletion.Finalizer, deletion.Within.Duration = "", test.within
			}
			names := func(source string) link.Found {
				return link.Found{Source: find(source), End: find("target"), Effect: link.Effect{Deletes: true}, Confirmed: true,
					Definition: &link.Definition{Deletion: deletion}}
			}
			if test.roots == nil {
				test.roots = []string{"source"}
			}
			var roots []graph.ID
			for _, root := range test.roots {
				roots = append(roots, find(root))
			}
			p := plan.New(listed.Graph, roots, plan.Background,
				plan.Options{Links: link.New(listed.Graph, names("source"), names("second"))})
			var told record
			r := begun(listed.Client, p, listed.ResumePoints, &told)
			r.waiter.sent(nil)
			rootGone(r, p)
			if test.program != nil {
				test.program(t, proxy, ns)
			}
			r.keep(t.Context(), time.Now().Add(test.after))
			var kept []string
			for _, k := range r.result.Kept {
				kept = append(kept, k.Object.Name)
				if k.Object.Name == "target" && k.Within != test.within {
					t.Errorf("%s may be deleted for %s", k.Object.Name, k.Within)
				}
				if by := k.By.Name; k.Object.Name == "target" && by != "source" || k.Object.Name == "below" && by != "" {
					t.Errorf("%s is kept by %q", k.Object.Name, by)
				}
			}
			if slices.Sort(kept); !slices.Equal(kept, test.want) || r.waiter.over() != (test.want != nil) {
				t.Errorf("kept %v, want %v; left %+v", kept, test.want, r.waiter.blocked())
			}
		})
	}
}

// reads matches reads of one ConfigMap.
func reads(name string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps/"+name)
	}
}
