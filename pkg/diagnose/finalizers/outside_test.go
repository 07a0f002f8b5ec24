package finalizers

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// TestOutsideAfterItsCluster: nobody is to look there whether an actor runs where the object of its
// cluster does not exist; one that runs there only for some clusters may run here.
func TestOutsideAfterItsCluster(t *testing.T) {
	t.Parallel()
	e := New(&core.Examination{}, nil)
	for _, c := range []struct {
		name, unreported string
		where            []link.Condition
		want, not        string
	}{
		{"reported", "", nil, "heck there that it is running", "by hand"},
		{"gone", "Cluster a", nil, "Cluster a, which stands for where it runs, does not exist here", "heck there"},
		{"for some", "Cluster a", make([]link.Condition, 1), "heck there that it is running", "by hand"},
	} {
		known := finalizer.Known{Alive: finalizer.Alive{ReportedBy: &finalizer.Report{Where: c.where}}}
		b := core.ResponsibleFor(&unstructured.Unstructured{Object: map[string]any{}},
			actor.Actor{Who: "the agent", IsKnown: true, Known: known, Unreported: c.unreported})
		got := e.outside(t.Context(), b, core.Finding{}).Remedy
		if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
