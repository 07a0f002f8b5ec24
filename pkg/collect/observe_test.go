package collect

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestOrphaningWaitsForTheController_RO021: while the controller has not taken notice of the
// deletion nothing is orphaned; and one that never does is waited for no longer than was said.
func TestOrphaningWaitsForTheController_RO021(t *testing.T) {
	c := testcluster.Shared(t)
	for name, notices := range map[string]bool{"it notices": true, "it never does": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := c.Namespace(t)
			api, err := kubernetes.NewForConfig(c.Config())
			if err != nil {
				t.Fatal(err)
			}
			deleted := lagging(t, api, namespace)
			proxy := faultproxy.Start(t, c.Config())
			var noticed, early atomic.Bool
			proxy.On(func(r *http.Request) bool {
				return r.Method == http.MethodPatch && strings.Contains(r.URL.Path, namespace)
			},
				func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if !noticed.Load() {
						early.Store(true)
					}
					next.ServeHTTP(w, r)
				})
			client, err := cluster.New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			observe := time.Second
			if notices {
				observe = time.Minute
				proxy.On(func(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" },
					func(w http.ResponseWriter, r *http.Request, next http.Handler) {
						if !noticed.Swap(true) { // the loop waits; so the controller catches up
							deleted.Status.ObservedGeneration = deleted.Generation
							if _, err := api.AppsV1().Deployments(namespace).UpdateStatus(r.Context(), deleted,
								metav1.UpdateOptions{}); err != nil {
								t.Error(err)
							}
						}
						next.ServeHTTP(w, r)
					})
			}
			if _, err := New(client, Options{Allow: within(namespace), Observe: observe}).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if early.Load() == notices {
				t.Errorf("something was patched before the controller had noticed: %t", early.Load())
			}
			if _, err := api.AppsV1().Deployments(namespace).Get(t.Context(), "owner", metav1.GetOptions{}); err == nil {
				t.Error("the owner is still there")
			}
			o, err := api.CoreV1().ConfigMaps(namespace).Get(t.Context(), "dependent", metav1.GetOptions{})
			if err != nil || len(o.OwnerReferences) > 0 || o.DeletionTimestamp != nil {
				t.Errorf("the dependent is %v, %v", o.ObjectMeta, err)
			}
		})
	}
}

// lagging makes a Deployment with a dependent, whose controller has seen it before it was deleted
// with the policy Orphan, and returns it.
func lagging(t *testing.T, api kubernetes.Interface, namespace string) *appsv1.Deployment {
	t.Helper()
	ctx, deployments := t.Context(), api.AppsV1().Deployments(namespace)
	labels := map[string]string{"app": "lagging"}
	owner, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "owner"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/none"}}},
		}},
	}, metav1.CreateOptions{})
	if err == nil {
		owner.Status.ObservedGeneration = owner.Generation
		owner, err = deployments.UpdateStatus(ctx, owner, metav1.UpdateOptions{})
	}
	if err == nil {
		_, err = api.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: "dependent", OwnerReferences: controlledBy("apps/v1", "Deployment", "owner", owner.UID),
		}}, metav1.CreateOptions{})
	}
	orphan := metav1.DeletePropagationOrphan
	if err == nil {
		err = deployments.Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &orphan})
	}
	if err == nil {
		owner, err = deployments.Get(ctx, "owner", metav1.GetOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return owner
}
