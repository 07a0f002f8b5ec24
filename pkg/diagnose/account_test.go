package diagnose

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWhoWasDeniedDoesNotExist: an account that is gone is given no rights, and one that is there is.
func TestWhoWasDeniedDoesNotExist(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Lease(ns, "leader", "me", time.Now()))
	deny := fmt.Sprintf(`{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":%q,"message":`+
		`"secrets \"s\" is forbidden: User \"system:serviceaccount:%s:old\" cannot get resource \"secrets\" in API group \"\" in the namespace \"%[2]s\""}]}`,
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339), ns)
	heldDeployment(t, c, ns, "db", "example.com/x", deny)
	deleted(t, c, "deployment", "db", "-n", ns)
	known := fixture.Pack(t, "example.com/x", fmt.Sprintf("leases: ['%s/leader']", ns))
	cause := stuckOf(t, examine(t, c.Config(), Options{Known: known}, ns), "db").Causes[0]
	wantRemedy(t, cause, "Rights for that account are of no use.")
	ask := "kubectl auth can-i get secrets --as=system:serviceaccount:" + ns + ":old -n " + ns
	if slices.Contains(cause.Commands, ask) {
		t.Errorf("the commands are %q", cause.Commands)
	}
	c.Kubectl(t, "create", "serviceaccount", "old", "-n", ns)
	cause = stuckOf(t, examine(t, c.Config(), Options{Known: known}, ns), "db").Causes[0]
	wantRemedy(t, cause, "Let ServiceAccount "+ns+"/old get secrets in namespace "+ns)
	if !slices.Contains(cause.Commands, ask) {
		t.Errorf("the commands are %q", cause.Commands)
	}
}
