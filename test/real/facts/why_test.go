package facts

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// wantCauseIn fails if what why says of an object lies in other objects than these.
func wantCauseIn(t *testing.T, c *testcluster.Cluster, want []types.UID, args ...string) {
	t.Helper()
	var diagnosis v1alpha1.Diagnosis
	code := plugin.JSON(t, c, &diagnosis, append([]string{"why"}, args...)...)
	var in []types.UID
	for _, stuck := range diagnosis.Stuck {
		for _, cause := range stuck.Causes {
			if uid := types.UID(cause.Object.UID); !slices.Contains(in, uid) {
				in = append(in, uid)
			}
		}
	}
	want = slices.Clone(want)
	slices.Sort(want)
	slices.Sort(in)
	if !slices.Equal(in, want) || !diagnosis.Complete {
		t.Errorf("why %q: exit code %d, complete %t, causes in %v, want them in %v: %+v", args, code, diagnosis.Complete, in,
			want, diagnosis.Stuck)
	}
}
