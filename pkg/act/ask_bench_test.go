package act

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// benchAsked is how many dependents the server is asked about.
const benchAsked = 2000

// BenchmarkAsk asks the server about the deletes of all dependents of an owner, and sends as many
// bare dry runs in parallel, in turn.
func BenchmarkAsk(b *testing.B) {
	c := testcluster.Shared(b)
	ns := c.Namespace(b)
	c.Apply(b, manifest(ns, "owner"))
	client, err := cluster.New(c.Config(), 0)
	if err != nil {
		b.Fatal(err)
	}
	client = fixture.Unguarded(client)
	t := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	owner, err := client.GetObject(b.Context(), t, ns, "owner")
	if err != nil {
		b.Fatal(err)
	}
	each := func(do func(ctx context.Context, i int) error) {
		group, ctx := errgroup.WithContext(b.Context())
		group.SetLimit(client.Concurrency())
		for i := range benchAsked {
			group.Go(func() error { return do(ctx, i) })
		}
		if err := group.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	uids := make([]string, benchAsked)
	each(func(ctx context.Context, i int) error {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("v1")
		o.SetKind("ConfigMap")
		o.SetName(fmt.Sprint("dependent-", i))
		o.SetNamespace(ns)
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner",
			UID: owner.GetUID()}})
		made, err := client.Create(ctx, t, ns, o, cluster.WriteOptions{})
		if err == nil {
			uids[i] = string(made.GetUID())
		}
		return err
	})
	_, p, _ := prepare(b, c.Config(), ns, plan.Background, "owner")
	var bare, asking time.Duration
	for b.Loop() {
		start := time.Now()
		each(func(ctx context.Context, i int) error {
			_, err := client.Delete(ctx, t, ns, fmt.Sprint("dependent-", i), uids[i],
				cluster.DeleteOptions{Policy: string(plan.Background), DryRun: true})
			return err
		})
		bare += time.Since(start)
		start = time.Now()
		if asked := Ask(b.Context(), client, p, MostAsked); asked.Count != benchAsked ||
			len(asked.Refused)+asked.Unanswered > 0 {
			b.Fatalf("%+v", asked)
		}
		asking += time.Since(start)
	}
	b.ReportMetric(bare.Seconds()/asking.Seconds(), "of-bare")
	b.ReportMetric(float64(b.N*benchAsked)/asking.Seconds(), "asked/s")
}
