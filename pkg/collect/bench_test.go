package collect

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// benchDependents is how many dependents an owner has that is gone.
const benchDependents = 5000

// BenchmarkDependents collects the dependents of an owner that is gone, and deletes as many by
// nothing but parallel DELETEs, in one run.
func BenchmarkDependents(b *testing.B) {
	c := testcluster.Shared(b)
	client, err := cluster.New(c.Config(), 0)
	if err != nil {
		b.Fatal(err)
	}
	var bare, loop time.Duration
	for range b.N {
		b.StopTimer()
		one, two := c.Namespace(b), c.Namespace(b)
		if err := dependents(b.Context(), c, one); err != nil {
			b.Fatal(err)
		}
		if err := dependents(b.Context(), c, two); err != nil {
			b.Fatal(err)
		}
		objects := listed(b, client, one)
		start := time.Now()
		if err := deleteAll(b.Context(), client, configMaps, one, objects); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(start)
		b.StartTimer()
		start = time.Now()
		l := New(client, Options{List: cluster.ListOptions{Namespace: two}, Allow: within(two)})
		if _, err := l.Run(b.Context()); err != nil {
			b.Fatal(err)
		}
		loop += time.Since(start)
		b.StopTimer()
		if left := len(listed(b, client, two)); left > 0 {
			b.Fatalf("%d config maps are left", left)
		}
	}
	b.ReportMetric(float64(b.N*benchDependents)/bare.Seconds(), "bare/s")
	b.ReportMetric(float64(b.N*benchDependents)/loop.Seconds(), "collected/s")
	b.ReportMetric(bare.Seconds()/loop.Seconds(), "of-bare")
}

var configMaps = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

// listed are the config maps of a namespace but the one that every namespace has.
func listed(tb testing.TB, client *cluster.Client, namespace string) []graph.Object {
	tb.Helper()
	var objects []graph.Object
	if _, err := client.ForEachMeta(tb.Context(), configMaps, namespace, func(o *graph.Object) {
		if len(o.Owners) > 0 {
			objects = append(objects, *o)
		}
	}); err != nil {
		tb.Fatal(err)
	}
	return objects
}

func dependents(ctx context.Context, c *testcluster.Cluster, namespace string) error {
	creator, err := newCreator(c.Config())
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for i := range benchDependents {
		group.Go(func() error {
			return creator.create(ctx, namespace, fmt.Sprintf("d%05d", i), "nobody", "11111111-0000-4000-8000-000000000000")
		})
	}
	return group.Wait()
}

func deleteAll(ctx context.Context, client *cluster.Client, t graph.Type, namespace string,
	objects []graph.Object) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(client.Concurrency())
	for _, o := range objects {
		group.Go(func() error {
			_, err := client.Delete(ctx, t, namespace, o.Name, o.UID, cluster.DeleteOptions{Policy: "Background"})
			return err
		})
	}
	return group.Wait()
}
