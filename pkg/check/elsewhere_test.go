package check_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAnOwnerOfAnotherKindInAnotherNamespaceIsNotAbsent: the listing of the namespace does not show
// it, and the kind that the reference names does not lead there.
func TestAnOwnerOfAnotherKindInAnotherNamespaceIsNotAbsent(t *testing.T) {
	l, c := newLive(t), testcluster.Shared(t)
	other := c.Namespace(t)
	c.Kubectl(t, "create", "secret", "generic", "stray", "-n", other)
	uid := c.Kubectl(t, "get", "secret", "stray", "-n", other, "-o", "jsonpath={.metadata.uid}")
	l.Make("child", "stray="+uid, "owner="+l.Make("owner"))
	q := &selection.Query{Client: l.Client, Catalog: l.Catalog, Namespace: l.Namespace}
	q.Objects = []selection.Object{l.Object("child")}
	report, err := check.Run(t.Context(), q, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Findings) != 1 || report.Findings[0].Code != string(check.WrongNamespace) ||
		report.Findings[0].Instead == nil || report.Findings[0].Instead.Kind != "Secret" ||
		report.Findings[0].Instead.Namespace != other {
		t.Errorf("%+v", report.Findings)
	}
	if p := l.plan("child"); len(p.Fixes) != 0 {
		t.Errorf("it would remove %+v", p.Fixes[0].Removed)
	}
}
