package collect

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const (
	benchDeployments = 10
	benchPods        = 5000
)

var (
	podType     = graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	replicaSets = graph.Type{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Namespaced: true}
)

// BenchmarkRun deletes Deployments in the background and measures how long it takes until their
// ReplicaSets and pods are gone: by nothing but parallel DELETEs, by the loop, and by the cluster's
// collector with requests enough and with those that it has by default. The collector has been
// running before; the loop begins when the Deployments are gone.
func BenchmarkRun(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		benchEmpty(b, testcluster.Shared(b), func(ctx context.Context, client *cluster.Client, namespace string) error {
			for _, t := range []graph.Type{replicaSets, podType} {
				var objects []graph.Object
				if _, err := client.ForEachMeta(ctx, t, namespace,
					func(o *graph.Object) { objects = append(objects, *o) }); err != nil {
					return err
				}
				if err := deleteAll(ctx, client, t, namespace, objects); err != nil {
					return err
				}
			}
			return nil
		})
	})
	b.Run("loop", func(b *testing.B) {
		benchEmpty(b, testcluster.Shared(b), func(ctx context.Context, client *cluster.Client, namespace string) error {
			_, err := New(client, Options{List: cluster.ListOptions{Namespace: namespace}, Allow: within(namespace),
				AllowOwnerLoss: true}).Run(ctx)
			return err
		})
	})
	wait := func(context.Context, *cluster.Client, string) error { return nil }
	b.Run("collector", func(b *testing.B) {
		c := testcluster.Start(b, testcluster.Controllers(testcluster.Collector),
			testcluster.ControllersArgs("--kube-api-qps=2000", "--kube-api-burst=2000"))
		benchEmpty(b, c, wait)
	})
	b.Run("collector-default", func(b *testing.B) {
		c := testcluster.Start(b, testcluster.Controllers(testcluster.Collector),
			testcluster.ControllersArgs("--kube-api-qps=20", "--kube-api-burst=30"))
		benchEmpty(b, c, wait)
	})
}

// benchEmpty makes the objects, deletes the Deployments, and measures how long it takes until the
// rest is gone.
func benchEmpty(b *testing.B, c *testcluster.Cluster, collect func(context.Context, *cluster.Client, string) error) {
	client, err := cluster.New(c.Config(), 0)
	if err != nil {
		b.Fatal(err)
	}
	var took time.Duration
	b.StopTimer()
	for range b.N {
		namespace := c.Namespace(b)
		if err := deployments(b.Context(), c.Config(), namespace); err != nil {
			b.Fatal(err)
		}
		if err := deleteDeployments(b.Context(), c.Config(), namespace); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		b.StartTimer()
		if err := collect(b.Context(), client, namespace); err != nil {
			b.Fatal(err)
		}
		if err := untilEmpty(b.Context(), client, namespace); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		took += time.Since(start)
	}
	b.ReportMetric(float64(b.N*(benchPods+benchDeployments))/took.Seconds(), "objects/s")
	b.ReportMetric(took.Seconds()/float64(b.N), "s-to-empty")
}

// untilEmpty waits until the pods are gone, by a watch.
func untilEmpty(ctx context.Context, client *cluster.Client, namespace string) error {
	left := map[string]bool{}
	at, err := client.ForEachMeta(ctx, podType, namespace, func(o *graph.Object) { left[o.UID] = true })
	if err != nil || len(left) == 0 {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = client.Watch(ctx, []cluster.ResumePoint{at}, func(c cluster.Change) {
		if c.Gone {
			delete(left, c.Object.UID)
		}
		if len(left) == 0 {
			cancel()
		}
	})
	if len(left) == 0 {
		return nil
	}
	return err
}

func deployments(ctx context.Context, config *rest.Config, namespace string) error {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "bench"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/bench"}}},
	}
	selector := &metav1.LabelSelector{MatchLabels: template.Labels}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for i := range benchDeployments {
		name := fmt.Sprintf("d%02d", i)
		d, err := client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		r, err := client.AppsV1().ReplicaSets(namespace).Create(ctx, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: controlledBy("apps/v1", "Deployment", name, d.UID)},
			Spec:       appsv1.ReplicaSetSpec{Selector: selector, Template: template},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		for j := range benchPods / benchDeployments {
			group.Go(func() error {
				_, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%04d", name, j),
						OwnerReferences: controlledBy("apps/v1", "ReplicaSet", name, r.UID)},
					Spec: template.Spec,
				}, metav1.CreateOptions{})
				return err
			})
		}
	}
	return group.Wait()
}

func controlledBy(apiVersion, kind, name string, uid types.UID) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: &yes,
		BlockOwnerDeletion: &yes}}
}

func deleteDeployments(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	return client.AppsV1().Deployments(namespace).DeleteCollection(ctx,
		metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
}
