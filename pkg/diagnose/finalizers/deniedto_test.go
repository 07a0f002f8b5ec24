package finalizers

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// TestTheCommandThatAsksForADeniedRight: of a subresource kubectl is asked by a flag. By a name
// with a slash it would ask about an object.
func TestTheCommandThatAsksForADeniedRight(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`User "system:serviceaccount:op:a" cannot update resource "deployments/scale" in API group "apps" in the namespace "shop"`: "update subresource scale of deployments.apps in namespace shop: " +
			"kubectl auth can-i update deployments.apps --as=system:serviceaccount:op:a --subresource=scale -n shop",
		`User "system:serviceaccount:op:a" cannot get resource "nodes" in API group ""`: "get nodes: kubectl auth can-i get nodes --as=system:serviceaccount:op:a",
	} {
		d, _ := status.DeniedRight(text)
		right, ask := whetherItMay(d)
		if got := right + ": " + strings.Join(ask, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
