package facts

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// planOf gives the plan of a deletion, which has to be complete.
func planOf(t *testing.T, c *testcluster.Cluster, args ...string) v1alpha1.Plan {
	t.Helper()
	var plan v1alpha1.Plan
	if code := plugin.JSON(t, c, &plan, append([]string{"delete", "--dry-run=client"}, args...)...); code != 0 ||
		!plan.Complete {
		t.Fatalf("planning %q: exit code %d, complete %v", args, code, plan.Complete)
	}
	return plan
}

// planned gives the uids of what a plan deletes.
func planned(t *testing.T, c *testcluster.Cluster, args ...string) []types.UID {
	t.Helper()
	var all []types.UID
	for _, ref := range planOf(t, c, args...).Deleted {
		all = append(all, types.UID(ref.UID))
	}
	slices.Sort(all)
	return all
}

// went gives the uids of what was recorded as gone.
func went(h record.History) []types.UID {
	var all []types.UID
	for _, e := range h.Kinds(record.Gone) {
		all = append(all, e.UID)
	}
	slices.Sort(all)
	return all
}
