package deletion

import (
	"context"
	"net/http"
	"path"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestEachObjectIsReadOnceForAllQuestions: what may not be read is unread in each of them, and what
// is gone, or another object by now, in none.
func TestEachObjectIsReadOnceForAllQuestions(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	for _, name := range []string{"both", "gone", "replaced"} {
		c.Apply(t, fixture.ConfigMap(namespace, name))
	}
	c.Kubectl(t, "create", "secret", "generic", "hidden", "-n", namespace)
	l := fixture.List(t, c.Config(), cluster.ListOptions{Namespace: namespace})
	c.Kubectl(t, "delete", "configmap/gone", "configmap/replaced", "-n", namespace)
	c.Apply(t, fixture.ConfigMap(namespace, "replaced"))
	c.Allow(t, namespace, "reader", []string{"get"}, []string{"configmaps"})

	proxy := faultproxy.Start(t, c.As("reader"))
	client, _ := fixture.Connect(t, proxy.Config())
	at := func(resource, name string) graph.ID { return l.Find(t, "", resource, namespace, name) }
	both, hidden := at("configmaps", "both"), at("secrets", "hidden")
	name := func(_ context.Context, _ graph.ID, o *unstructured.Unstructured) string { return o.GetName() }
	first := newAnswers([]graph.ID{both, hidden, at("configmaps", "gone")}, name)
	second := newAnswers([]graph.ID{both, hidden, at("configmaps", "replaced")}, name)
	if err := survey(t.Context(), client, l.Graph, first, second); err != nil {
		t.Fatal(err)
	}
	for _, q := range []*answers[string]{first, second} {
		if len(q.by) != 1 || q.by[both] != "both" {
			t.Errorf("heard %v", q.by)
		}
		if len(q.unread) != 1 || !q.unread[hidden] {
			t.Errorf("unread are %v, want only the secret", q.unread)
		}
	}
	reads := map[string]int{}
	for _, r := range proxy.Requests() {
		if r.Method == http.MethodGet {
			reads[path.Base(r.Path)]++
		}
	}
	for _, name := range []string{"both", "hidden", "gone", "replaced"} {
		if reads[name] != 1 {
			t.Errorf("%s was read %d times", name, reads[name])
		}
	}
}
