package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWebhookWhoseNamespaceIsBeingDeleted: its pods cannot be created there, so that nobody is told
// to start them; the registration is what can be deleted.
func TestWebhookWhoseNamespaceIsBeingDeleted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, hooks := c.Namespace(t), c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	c.Apply(t, nobodyBehind(hooks))
	registered(t, c, "validating", ns, webhook("Validating", ns, "UPDATE", toService(hooks)),
		fails(c, append(label, ns)...))
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	if first := d.Stuck[0].Causes[0].Commands[0]; !strings.HasPrefix(first, "kubectl scale") {
		t.Fatalf("the first command is %q", first)
	}
	deleted(t, c, "namespace", hooks)
	d = examine(t, c.Config(), Options{Known: operator}, ns)
	cause := d.Stuck[0].Causes[0]
	wantRemedy(t, cause, "Namespace "+hooks+" is being deleted: the pods behind Service "+hooks+
		"/hook cannot be created there. The remaining option is to delete the ValidatingWebhookConfiguration")
	if len(cause.Commands) != 2 || !strings.HasPrefix(cause.Commands[0], "kubectl describe ") ||
		!strings.HasPrefix(last(cause), "kubectl delete validatingwebhookconfigurations") {
		t.Errorf("the commands are %q", cause.Commands)
	}
	typed(t, c, last(cause))
	letGo(t, c, ns, "configmap/cm")
}

// TestWhatIsMissingInAnyNamespaceMayBeOfAnother: that the namespace of the object is being deleted
// does not keep anybody from creating it elsewhere.
func TestWhatIsMissingInAnyNamespaceMayBeOfAnother(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Lease(ns, "leader", "me", time.Now()))
	heldDeployment(t, c, ns, "db", "example.com/x", `{"conditions":[
		{"type":"Ready","status":"False","message":"secrets \"creds-of-db\" not found"}]}`)
	deleted(t, c, "namespace", ns)
	d := examine(t, c.Config(), Options{Known: fixture.Pack(t, "example.com/x",
		fmt.Sprintf("leases: ['%s/leader']", ns))}, ns)
	cause := stuckOf(t, d, "db").Causes[0]
	wantEvidence(t, cause, "Secret creds-of-db does not exist in any namespace")
	wantRemedy(t, cause, "if Secret creds-of-db was there, it cannot be created again")
}
