package facts

import (
	"context"
	_ "embed"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/jobset.yaml
var training string

var (
	jobSets = schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
	pvcs    = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
)

// TestJobSet tests what becomes of the Jobs, pods, claims and the Service of a JobSet that is deleted,
// in both policies, and in which order; that a claim stays whose policy retains it; and that a Job and
// the Service come back that are deleted alone. The plans say so.
func TestJobSet(t *testing.T) {
	all := append([]string{"job-controller", "persistentvolumeclaim-protection-controller"}, controllers...)
	c := testcluster.Start(t, testcluster.Controllers(all...))
	beside.StartJobSet(t, c)
	c.StopControllers(t) // as learnTypes does
	c.StartControllers(t, all...)
	for cascade, policy := range map[string]metav1.DeletionPropagation{
		"background": metav1.DeletePropagationBackground, "foreground": metav1.DeletePropagationForeground,
	} {
		t.Run(cascade, func(t *testing.T) {
			ns := trained(t, c)
			made, sets := uids(read(t, c, jobs, ns).list("")), uids(read(t, c, jobSets, ns).list(""))
			going := planned(t, c, "jobset/train", "-n", ns, "--cascade="+cascade)
			r := record.Start(t, c.Config())
			if err := read(t, c, jobSets, ns).delete("train", policy); err != nil {
				t.Fatal(err)
			}
			h := r.Until(t, "all of the plan is gone", func(h record.History) bool { return gone(h, going...) })
			if went := went(h.In(ns)); !slices.Equal(going, went) {
				t.Errorf("the plan deletes %v, and %v are gone", going, went)
			}
			if cascade == "foreground" {
				inOrder(t, h, stage{"Job", record.Gone, made}, stage{"JobSet", record.Gone, sets})
			} else {
				inOrder(t, h, stage{"JobSet", record.Gone, sets}, stage{"Job", record.Gone, made})
			}
			if left := read(t, c, pvcs, ns).list(""); len(left) != 1 || left[0].GetName() != "data-train" {
				t.Errorf("these claims are left: %v", left)
			}
		})
	}
	t.Run("comes back", func(t *testing.T) {
		ns := trained(t, c)
		for name, resource := range map[string]schema.GroupVersionResource{"train-workers-1": jobs, "train": services} {
			before := read(t, c, resource, ns).get(name).GetUID()
			plan := planOf(t, c, resource.Resource+"/"+name, "-n", ns)
			if len(plan.Recreated) != 1 || plan.Recreated[0].Owner.Kind != "JobSet" ||
				plan.Recreated[0].Program != "JobSet" || string(before) != plan.Recreated[0].Object.UID {
				t.Errorf("the plan says that these come back: %+v", plan.Recreated)
			}
			c.Kubectl(t, "delete", resource.Resource, name, "-n", ns, "--wait=false")
			read(t, c, resource, ns).madeAgain(name, before)
		}

		// Once it has ended, the controller deletes its Jobs, and makes nothing again.
		status(t, c, "jobset/train", `{"terminalState":"Completed","conditions":[{"type":"Completed","status":"True",
"reason":"AllJobsCompleted","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`, "-n", ns, "--type=merge")
		testcluster.Eventually(t, "the Jobs are gone", func(context.Context) (bool, error) {
			return len(read(t, c, jobs, ns).list("")) == 0, nil
		})
		if plan := planOf(t, c, "service/train", "-n", ns); len(plan.Recreated) != 0 {
			t.Errorf("the plan says that these come back: %+v", plan.Recreated)
		}
	})
}

// trained makes a JobSet in a new namespace, and waits until all is there that is made of it.
func trained(t *testing.T, c *testcluster.Cluster) string {
	t.Helper()
	ns := c.Namespace(t)
	c.Apply(t, training, "-n", ns)
	testcluster.Eventually(t, "what is made of the JobSet is there", func(context.Context) (bool, error) {
		return len(read(t, c, pods, ns).list("")) == 3 && len(read(t, c, pvcs, ns).list("")) == 2 &&
			len(read(t, c, services, ns).list("")) == 1, nil
	})
	return ns
}
