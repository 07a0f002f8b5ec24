package deletion

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TestTooManyPodsAreNotRead, and each of them is named as unread; not one request is made.
func TestTooManyPodsAreNotRead(t *testing.T) {
	pods := graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	b := graph.NewBuilder()
	b.Serve(pods)
	l := b.Listing(pods, "")
	for i := range mostRead + 1 {
		l.Add(graph.Object{Namespace: "ns", Name: fmt.Sprintf("p%d", i), UID: fmt.Sprintf("u%d", i)})
	}
	l.Complete()
	g := b.Build()
	roots := make([]graph.ID, g.Len())
	for i := range roots {
		roots[i] = graph.ID(i)
	}
	p := plan.New(g, roots, plan.Background, plan.Options{})
	f, err := readDetails(t.Context(), &cluster.Client{}, p) // a client without a connection
	if err != nil || len(f.Unread) != mostRead+1 || len(f.Pods) != 0 {
		t.Errorf("%d unread and %d read of %d, %v", len(f.Unread), len(f.Pods), mostRead+1, err)
	}
}

// TestPodOf: of a pod that is being deleted the period that its deletion gave it counts.
func TestPodOf(t *testing.T) {
	own, given := int64(30), int64(5)
	for _, test := range []struct {
		content cluster.SpecFields
		want    plan.Pod
	}{
		{cluster.SpecFields{NodeName: "n", Phase: "Running", TerminationGracePeriodSeconds: &own},
			plan.Pod{Node: "n", GracePeriodSeconds: 30}},
		{cluster.SpecFields{NodeName: "n", Phase: "Running", TerminationGracePeriodSeconds: &own,
			DeletionGracePeriodSeconds: &given}, plan.Pod{Node: "n", GracePeriodSeconds: 5}},
		{cluster.SpecFields{Phase: "Failed"}, plan.Pod{Ended: true}},
		{cluster.SpecFields{Phase: "Succeeded"}, plan.Pod{Ended: true}},
	} {
		if got := podOf(test.content); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v: %+v, want %+v", test.content, got, test.want)
		}
	}
}
