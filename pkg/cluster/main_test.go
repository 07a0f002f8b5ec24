package cluster

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// list lists with a fresh client and fails the test if that is not possible.
func list(t *testing.T, config *rest.Config, opts ListOptions) (*graph.Graph, *ListResult) {
	t.Helper()
	g, listed, err := tryList(t.Context(), config, opts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g, listed
}

func tryList(ctx context.Context, config *rest.Config, opts ListOptions, change func(*Client)) (*graph.Graph,
	*ListResult, error) {
	client, err := New(config, 0)
	if err != nil {
		return nil, nil, err
	}
	if change != nil {
		change(client)
	}
	catalog, err := client.Discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	b := graph.NewBuilder()
	listed, err := client.List(ctx, catalog, opts, b)
	if err != nil {
		return nil, nil, err
	}
	return b.Build(), listed, nil
}

// dump describes every node of a namespace, or of all if namespace is empty, so that two graphs can
// be compared.
func dump(g *graph.Graph, namespace string) []string {
	var lines []string
	for i := range g.Len() {
		id := graph.ID(i)
		r := g.Ref(id)
		if namespace != "" && r.Namespace != namespace {
			continue
		}
		line := fmt.Sprintf("%s %s %s/%s %s rv=%s state=%d finalizers=%v created=%d", r.APIVersion, r.Kind, r.Namespace,
			r.Name, r.UID,
			g.ResourceVersion(id), g.State(id), g.Finalizers(id), g.CreationTimestamp(id))
		for e := range g.Owners(id) {
			line += fmt.Sprintf(" <- %s controller=%t block=%t", g.Ref(e.Owner).UID, e.Controller, e.Block)
		}
		lines = append(lines, line)
	}
	return lines
}

// gapsOf returns the gaps of one type.
func gapsOf(listed *ListResult, resource string) []v1alpha1.Gap {
	return slices.DeleteFunc(slices.Clone(listed.Gaps), func(g v1alpha1.Gap) bool { return g.Resource != resource })
}

// wantGap fails unless the type has one gap with the reason and a message that contains a text.
func wantGap(t *testing.T, listed *ListResult, resource string, reason v1alpha1.GapReason, text string) {
	t.Helper()
	gaps := gapsOf(listed, resource)
	if len(gaps) != 1 || gaps[0].Reason != reason || !strings.Contains(gaps[0].Message, text) {
		t.Errorf("gaps of %s = %+v, want one with reason %s and %q in the message", resource, gaps, reason, text)
	}
}

// noLeaks fails the test if goroutines of this package's are left at its end. The control plane is
// there before, and connections to it that clients share and keep open are nobody's leak.
func noLeaks(t *testing.T) {
	t.Helper()
	testcluster.Shared(t)
	before := goleak.IgnoreCurrent()
	kept := goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*clientConnReadLoop).run")
	t.Cleanup(func() { goleak.VerifyNone(t, before, kept) })
}

func listing(resource string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+resource) && r.URL.Query().Has("limit")
	}
}

// servedBy is what a server that is as it should be says that it serves.
func servedBy(t *testing.T, c *testcluster.Cluster) *Catalog {
	t.Helper()
	client, err := New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cat, err := client.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return cat
}
