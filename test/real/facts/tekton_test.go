package facts

import (
	"context"
	_ "embed"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/tekton.yaml
var release string

var (
	pipelineRuns = schema.GroupVersionResource{Group: "tekton.dev", Version: "v1", Resource: "pipelineruns"}
	taskRuns     = schema.GroupVersionResource{Group: "tekton.dev", Version: "v1", Resource: "taskruns"}
)

// TestTekton tests what becomes of the TaskRuns of a PipelineRun that is deleted, their pods, its
// claim and the StatefulSet that keeps its pods on one node, in both policies; that a TaskRun and a
// pod come back that are deleted while their run goes on, and that neither does once it has ended.
// The plans say so.
func TestTekton(t *testing.T) {
	all := append([]string{"statefulset-controller", "persistentvolumeclaim-protection-controller"}, controllers...)
	c := testcluster.Start(t, testcluster.Controllers(all...))
	beside.StartTekton(t, c)
	c.StopControllers(t) // as learnTypes does
	c.StartControllers(t, all...)
	for cascade := range policies {
		t.Run(cascade, func(t *testing.T) {
			ns := released(t, c)
			goesAsPlanned(t, c, ns, cascade, pipelineRuns, "release")
		})
	}
	t.Run("comes back", func(t *testing.T) {
		ns := released(t, c)
		makesAgain(t, c, ns, taskRuns, "release-build", "Tekton", "PipelineRun")
		hasPod(t, c, ns, "release-build")
		makesAgain(t, c, ns, pods, "release-lint-pod", "Tekton", "TaskRun")

		// The pod of a TaskRun that has ended stays gone. The TaskRun comes back while the others run.
		status(t, c, "pod/release-lint-pod", `{"phase":"Succeeded"}`, "-n", ns)
		ended(t, c, ns, taskRuns, "release-lint")
		staysGone(t, c, ns, pods, "release-lint-pod")
		makesAgain(t, c, ns, taskRuns, "release-lint", "Tekton", "PipelineRun")
		hasPod(t, c, ns, "release-lint")

		c.Kubectl(t, "patch", "pipelineruns.tekton.dev/release", "-n", ns, "--type=merge", "-p", `{"spec":{"status":"Cancelled"}}`)
		ended(t, c, ns, pipelineRuns, "release")
		revisions := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
		testcluster.Eventually(t, "what the run needed is gone", func(context.Context) (bool, error) {
			return len(read(t, c, pods, ns).list("")) == 0 && len(read(t, c, revisions, ns).list("")) == 0, nil
		})
		staysGone(t, c, ns, taskRuns, "release-lint")
	})
}

// released makes a PipelineRun in a new namespace, and waits until its first tasks have pods.
func released(t *testing.T, c *testcluster.Cluster) string {
	t.Helper()
	ns := c.Namespace(t)
	c.Apply(t, release, "-n", ns)
	testcluster.Eventually(t, "the first tasks have pods", func(context.Context) (bool, error) {
		return len(read(t, c, taskRuns, ns).list("")) == 2 && len(read(t, c, pods, ns).list("")) == 3 &&
			len(read(t, c, pvcs, ns).list("")) == 1, nil
	})
	return ns
}

// hasPod waits until a TaskRun that was made again knows its pod.
func hasPod(t *testing.T, c *testcluster.Cluster, ns, name string) {
	t.Helper()
	run := read(t, c, taskRuns, ns).until(name, "has a pod", func(o *unstructured.Unstructured) bool {
		pod, _, _ := unstructured.NestedString(o.Object, "status", "podName")
		return pod != ""
	})
	read(t, c, pods, ns).until(name+"-pod", "is that of the TaskRun", func(o *unstructured.Unstructured) bool {
		return o.GetOwnerReferences()[0].UID == run.GetUID()
	})
}

// ended waits until a run has ended.
func ended(t *testing.T, c *testcluster.Cluster, ns string, resource schema.GroupVersionResource, name string) {
	t.Helper()
	read(t, c, resource, ns).until(name, "has ended", func(o *unstructured.Unstructured) bool {
		at, _, _ := unstructured.NestedString(o.Object, "status", "completionTime")
		return at != ""
	})
}

// staysGone deletes an object of which the plan does not say that it comes back, as the test expects.
func staysGone(t *testing.T, c *testcluster.Cluster, ns string, resource schema.GroupVersionResource, name string) {
	t.Helper()
	if plan := planOf(t, c, resource.GroupResource().String()+"/"+name, "-n", ns); len(plan.Recreated) != 0 {
		t.Errorf("the plan of %s says that these come back: %+v", name, plan.Recreated)
	}
	goesAsPlanned(t, c, ns, "background", resource, name)
}
