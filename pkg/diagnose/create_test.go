package diagnose

import (
	"strings"
	"testing"

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
	if len(cause.Commands) != 1 ||
		!strings.HasPrefix(cause.Commands[0], "kubectl delete validatingwebhookconfigurations") {
		t.Errorf("the commands are %q", cause.Commands)
	}
	typed(t, c, cause.Commands[0])
	letGo(t, c, ns, "configmap/cm")
}
