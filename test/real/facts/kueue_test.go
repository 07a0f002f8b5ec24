package facts

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	//go:embed testdata/kueue.yaml
	queues string
	//go:embed testdata/kueue-job.yaml
	queued string
)

// workloads are what Kueue makes of Jobs, to admit them.
var workloads = kueue("workloads")

func kueue(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: resource}
}

// TestKueue tests what becomes of the Workload and the pods of a Job that Kueue has admitted, when
// the Job is deleted, in both policies, and when its Workload is; and what keeps queues, flavors,
// checks and topologies that are deleted. Plans and why say so, but of the pods, which go with their
// Workload: Kueue stops the Job.
func TestKueue(t *testing.T) {
	all := append([]string{"job-controller"}, controllers...)
	c := testcluster.Start(t, testcluster.Controllers(all...))
	beside.StartKueue(t, c)
	c.StopControllers(t) // as learnTypes does
	c.StartControllers(t, all...)
	c.Apply(t, queues)
	for cascade := range policies {
		t.Run(cascade, func(t *testing.T) {
			ns, _ := admitted(t, c)
			goesAsPlanned(t, c, ns, cascade, jobs, "train")
		})
	}
	t.Run("comes back", func(t *testing.T) { workloadComesBack(t, c) })
	t.Run("kept", func(t *testing.T) { queueKept(t, c) })
}

// admitted makes a Job in a new namespace, waits until Kueue has admitted it, and gives its Workload.
func admitted(t *testing.T, c *testcluster.Cluster) (string, *unstructured.Unstructured) {
	t.Helper()
	ns := c.Namespace(t)
	c.Apply(t, queued, "-n", ns)
	return ns, started(t, c, ns)
}

// started waits until the Job has a pod, and gives its Workload.
func started(t *testing.T, c *testcluster.Cluster, ns string) *unstructured.Unstructured {
	t.Helper()
	var workload unstructured.Unstructured
	testcluster.Eventually(t, "the Job has been admitted", func(context.Context) (bool, error) {
		all := read(t, c, workloads, ns).list("")
		if len(all) != 1 || !condition(&all[0], "Admitted") || len(read(t, c, pods, ns).list("")) != 1 {
			return false, nil
		}
		workload = all[0]
		return workload.GetDeletionTimestamp() == nil, nil
	})
	return &workload
}

// workloadComesBack tests that a Workload comes back while its Job has not ended, and not afterwards.
func workloadComesBack(t *testing.T, c *testcluster.Cluster) {
	ns, workload := admitted(t, c)
	pod := read(t, c, pods, ns).list("")[0]
	r := record.Start(t, c.Config())
	makesAgain(t, c, ns, workloads, workload.GetName(), "Kueue", "Job")
	read(t, c, pods, ns).gone(pod.GetName())
	started(t, c, ns)
	if went := went(r.Settle(t).In(ns)); !slices.Equal(went, sorted(workload.GetUID(), pod.GetUID())) {
		t.Errorf("with a Workload and its pod, these went: %v", went)
	}
	for _, pod := range read(t, c, pods, ns).list("") {
		status(t, c, "pod/"+pod.GetName(), `{"phase":"Succeeded"}`, "-n", ns)
	}
	read(t, c, workloads, ns).until(workload.GetName(), "has ended",
		func(o *unstructured.Unstructured) bool { return condition(o, "Finished") })
	if plan := planOf(t, c, "workloads.kueue.x-k8s.io/"+workload.GetName(), "-n", ns); len(plan.Recreated) != 0 {
		t.Errorf("the plan says that these come back: %+v", plan.Recreated)
	}
	goesAsPlanned(t, c, ns, "background", workloads, workload.GetName())
}

// queueKept tests that what is in use stays, that plan and why name what uses it, and that the end of
// the Job, and then that of the other queue, free it.
func queueKept(t *testing.T, c *testcluster.Cluster) {
	ns, workload := admitted(t, c)
	var kept, later []types.UID
	for _, of := range []struct{ resource, name, kind, by string }{
		{"topologies", "racks", "ResourceFlavor", "default"},
		{"resourceflavors", "default", "ClusterQueue", "checked"},
		{"admissionchecks", "approved", "ClusterQueue", "checked"},
		{"clusterqueues", "shared", "Workload", workload.GetName()},
	} {
		object := of.resource + ".kueue.x-k8s.io/" + of.name
		going := planned(t, c, object)
		if !slices.Equal(going, []types.UID{read(t, c, kueue(of.resource), "").get(of.name).GetUID()}) {
			t.Errorf("the plan of %s deletes %v", object, going)
		}
		plan := plugin.Run(t, c, "delete", "--dry-run=client", object)
		if want := "is kept by finalizer kueue.x-k8s.io/resource-in-use: " + of.kind + "/" + of.by + " uses it"; !strings.Contains(
			plan.Stdout, want) {
			t.Errorf("the plan does not say that %s %s:\n%s", object, want, plan.Stdout)
		}
		if err := read(t, c, kueue(of.resource), "").delete(of.name, metav1.DeletePropagationBackground); err != nil {
			t.Fatal(err)
		}
		var why v1alpha1.Diagnosis
		if code := plugin.JSON(t, c, &why, "why", object); code != 2 || len(why.Stuck) != 1 {
			t.Fatalf("exit code %d, why says of %s %+v", code, object, why)
		}
		if cause := why.Stuck[0].Causes[0]; len(why.Stuck[0].Causes) != 1 || cause.Code != "InUse" ||
			!strings.Contains(strings.Join(cause.Evidence, "\n"), of.by+" uses it") {
			t.Errorf("why says of %s: %+v", object, why.Stuck[0].Causes)
		}
		if of.kind == "Workload" {
			kept = append(kept, going...)
		} else {
			later = append(later, going...)
		}
	}
	r := record.Start(t, c.Config())
	goesAsPlanned(t, c, ns, "background", jobs, "train")
	if h := r.Until(t, "the queue is gone", func(h record.History) bool { return gone(h, kept...) }); slices.ContainsFunc(
		later, func(uid types.UID) bool { return gone(h, uid) }) {
		t.Errorf("what another queue uses is gone: %v", h)
	}
	if err := read(t, c, kueue("clusterqueues"), "").delete("checked", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	r.Until(t, "all is gone", func(h record.History) bool { return gone(h, later...) })
}

// sorted gives uids in their order.
func sorted(all ...types.UID) []types.UID {
	slices.Sort(all)
	return all
}
