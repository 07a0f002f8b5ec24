package cluster

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/linear"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const (
	benchWatched = 1_000
	benchChanges = 10_000
)

// BenchmarkWatch measures what processor time a store takes, as run --watch has one, while 10,000
// changes of ConfigMaps arrive from a real API server: as protobuf, and from a server that speaks
// JSON only. Both read the same changes from the server's cache, in turns in one run.
func BenchmarkWatch(b *testing.B) {
	c := testcluster.Shared(b)
	namespace := c.Namespace(b)
	sides := map[string]*Client{"protobuf": benchClient(b, c.Config())}
	config := c.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return jsonOnly{next} })
	sides["json"] = benchClient(b, config)

	writer, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		b.Fatal(err)
	}
	watched := writer.CoreV1().ConfigMaps(namespace)
	each(b, benchWatched, func(ctx context.Context, i int) error {
		_, err := watched.Create(ctx, benchConfigMap(i), metav1.CreateOptions{})
		return err
	})
	var objects []graph.Object
	of := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	at, err := sides["json"].ForEachMeta(b.Context(), of, namespace, func(o *graph.Object) {
		kept := *o
		kept.Owners, kept.Finalizers = slices.Clone(o.Owners), slices.Clone(o.Finalizers)
		objects = append(objects, kept)
	})
	if err != nil {
		b.Fatal(err)
	}
	each(b, benchChanges, func(ctx context.Context, i int) error {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/n":"%d"}}}`, i)
		_, err := watched.Patch(ctx, fmt.Sprintf("c%04d", i%benchWatched), types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})

	took := map[string]time.Duration{}
	order := []string{"json", "protobuf"}
	for b.Loop() {
		for _, side := range order {
			took[side] += follow(b, sides[side], at, objects)
		}
		order[0], order[1] = order[1], order[0]
	}
	for side, d := range took {
		b.ReportMetric(float64(d.Milliseconds())/float64(b.N), side+"-cpu-ms")
	}
	b.ReportMetric(took["protobuf"].Seconds()/took["json"].Seconds(), "of-json")
}

// follow has a store follow a type from a list on, and returns what processor time the process has
// used until all changes were told.
func follow(b *testing.B, client *Client, at ResumePoint, objects []graph.Object) time.Duration {
	b.Helper()
	told, done := 0, make(chan bool, 1)
	s := client.NewStore(b.Context(), ListOptions{}, func(change Change) {
		if change.Object == nil {
			b.Errorf("%s was listed again", change.ResumePoint.Type.Resource)
		}
		if told++; told == benchChanges {
			done <- true
		}
	})
	listing := s.listing(&followed{})
	listing.Add(objects...)
	listing.hold(at)
	runtime.GC()
	before := linear.Spent()
	s.Follow()
	select {
	case <-done:
	case <-time.After(time.Minute):
		b.Fatal("the changes have not come within a minute")
	}
	took := linear.Spent() - before
	s.Close()
	return took
}

func benchClient(b *testing.B, config *rest.Config) *Client {
	b.Helper()
	client, err := New(config, 0)
	if err != nil {
		b.Fatal(err)
	}
	return client
}

// jsonOnly asks for no protobuf.
type jsonOnly struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (j jsonOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	_, accept, _ := strings.Cut(r.Header.Get("Accept"), ",")
	r.Header.Set("Accept", accept)
	return j.next.RoundTrip(r)
}

// benchConfigMap is one as a chart has it, which an owner's controller writes.
func benchConfigMap(i int) *corev1.ConfigMap {
	yes := true
	m := &corev1.ConfigMap{Data: map[string]string{}, ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("c%04d", i),
		Labels: map[string]string{"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "web-1",
			"app.kubernetes.io/managed-by": "Helm"},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "11111111-0000-4000-8000-000000000004",
			Controller: &yes, BlockOwnerDeletion: &yes,
		}},
	}}
	for n := range 5 {
		m.Data[fmt.Sprintf("setting-%d", n)] = "on"
	}
	return m
}

// each calls a function so many times, some at a time.
func each(b *testing.B, times int, f func(context.Context, int) error) {
	b.Helper()
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(32)
	for i := range times {
		group.Go(func() error { return f(ctx, i) })
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}
