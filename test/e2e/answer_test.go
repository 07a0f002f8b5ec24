package e2e

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestTheAnswerNoHidesNoFailure: that one of the objects named is not there, or was refused, is
// told and is in the exit code whatever the answer is.
func TestTheAnswerNoHidesNoFailure(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "one", "-n", ns)
	args := []string{"delete", "configmap/one", "configmap/other", "-n", ns, "--kubeconfig", c.Kubeconfig()}
	r := runTyping(t, "n\n", append(args, "-i")...)
	if r.code != 1 || !strings.HasSuffix(r.stdout, "deletion is cancelled\n") ||
		!strings.Contains(r.stderr, `Error from server (NotFound): configmaps "other" not found`) {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r = runTyping(t, "n\n", append(args, "-i", "--ignore-not-found")...)
	if r.code != 2 || !strings.HasSuffix(r.stdout, "deletion is cancelled\n") || r.stderr != "" {
		t.Errorf("with --ignore-not-found: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r = run(t, args...)
	if r.code != 1 || !strings.Contains(r.stderr, `configmaps "other" not found`) ||
		!strings.Contains(r.stderr, "nothing was deleted: there is no terminal") {
		t.Errorf("with nobody to ask: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if uidOf(t, c, ns, "one") == "" {
		t.Error("it was deleted")
	}
}
