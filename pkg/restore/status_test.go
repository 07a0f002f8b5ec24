package restore

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// withStatus is a CustomResourceDefinition whose objects have a status.
const withStatus = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.restore.example.com}
spec:
  group: restore.example.com
  scope: Namespaced
  names: {plural: gauges, singular: gauge, kind: Gauge}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// TestAStatusComesBackWhateverItWasCutOffAt, if it is asked for.
func TestAStatusComesBackWhateverItWasCutOffAt(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "types", testcluster.NoControllers())
	c.Apply(t, withStatus)
	gauges := dynamic.NewForConfigOrDie(c.Config()).Resource(schema.GroupVersionResource{Group: "restore.example.com",
		Version: "v1", Resource: "gauges"})
	for n := range 4 {
		t.Run(fmt.Sprintf("after %d writes", n), func(t *testing.T) {
			w := &world{t, c.Config(), kubernetes.NewForConfigOrDie(c.Config()), c.Namespace(t)}
			c.Apply(t, fmt.Sprintf(
				`{apiVersion: restore.example.com/v1, kind: Gauge, metadata: {name: a, namespace: %s}, spec: {max: 7}}`,
				w.namespace))
			c.Kubectl(t, "patch", "gauges.restore.example.com", "a", "-n", w.namespace, "--subresource=status", "--type=merge",
				"-p", `{"status":{"value":3}}`)
			listed := fixture.List(t, c.Config(), cluster.ListOptions{Namespace: w.namespace})
			file := t.TempDir() + "/archive.yaml"
			what := archive.Contents{Graph: listed.Graph,
				Objects: []graph.ID{listed.Find(t, "restore.example.com", "gauges", w.namespace, "a")}}
			if _, err := archive.Save(t.Context(), listed.Client, file, what,
				&v1alpha1.Plan{TypeMeta: v1alpha1.TypeMeta("Plan")}); err != nil {
				t.Fatal(err)
			}
			if err := gauges.Namespace(w.namespace).Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			cutOff := *w
			cutOff.config = rest.CopyConfig(w.config)
			cutOff.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &cut{next: next, after: int64(n)} })
			p, client := cutOff.plan(file, Options{Status: true})
			_, _ = p.Perform(t.Context(), client, PerformOptions{}) // which ends somewhere
			w.restore(file, Options{Status: true})
			o, err := gauges.Namespace(w.namespace).Get(t.Context(), "a", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if value, _, _ := unstructured.NestedInt64(o.Object, "status", "value"); value != 3 {
				t.Errorf("the status is %v", o.Object["status"])
			}
		})
	}
}
