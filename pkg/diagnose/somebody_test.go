package diagnose

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// refusing applies a ValidatingAdmissionPolicy that refuses an operation on config maps of a
// namespace to one user, and waits until it does.
func refusing(t testing.TB, c *testcluster.Cluster, ns, operation, user string, try ...string) {
	t.Helper()
	applied(t, c, "validatingadmissionpolicy", ns, fmt.Sprintf(`---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [%[2]s], resources: [configmaps]}]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  validations: [{expression: "request.userInfo.username != '%[3]s'", message: not you}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, ns, operation, user))
	testcluster.Eventually(t, "the policy is enforced", func(ctx context.Context) (bool, error) {
		out, err := c.Command(ctx, append(try, "-n", ns, "--dry-run=server", "--as="+user)...).CombinedOutput()
		return err != nil && strings.Contains(string(out), "not you"), nil
	})
}

const collectorUser = "system:serviceaccount:kube-system:generic-garbage-collector"

// TestPolicyThatRefusesTheCollectorAlone: the user's dry run succeeds, so that only one as the
// garbage collector tells. Of the way round it is said what it is.
func TestPolicyThatRefusesTheCollectorAlone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "done"))
	deleted(t, c, "configmap", "done", "-n", ns, "--cascade=foreground")
	fixture.Free(t, c, ns, "configmap/done")
	refusing(t, c, ns, "UPDATE", collectorUser, "patch", "configmap", "done", "--type=merge", "-p",
		`{"metadata":{"labels":{"x":"y"}}}`)
	d := examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/done": {"AdmissionDenied ValidatingAdmissionPolicy/" + ns}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "no dependent that blocks it is left")
	wantEvidence(t, cause, "denied request: not you")
	wantEvidence(
		t, cause, "it was tried as ServiceAccount kube-system/generic-garbage-collector, which is that of the garbage collector; with your own permissions it succeeds")
	wantRemedy(t, cause, "It denies the UPDATE of configmaps to the garbage collector and not to you: kubectl gc can do it with your permissions.")
	if want := "--cascade=background"; !strings.HasSuffix(cause.Commands[1], want) { // the first shows the policy
		t.Errorf("command %q, want one with %s, which needs no update", cause.Commands[1], want)
	}
	typed(t, c, cause.Commands[2])
	testcluster.Eventually(t, "the garbage collector may update it", func(ctx context.Context) (bool, error) {
		_, err := c.Try(ctx, "", "patch", "configmap", "done", "-n", ns, "--as="+collectorUser, "--type=merge", "-p",
			`{"metadata":{"finalizers":null}}`)
		return err == nil, nil
	})
}

// TestPolicyThatMayRefuseTheCollector: who may not impersonate it is told the suspect, and that is
// no cause.
func TestPolicyThatMayRefuseTheCollector(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "done"))
	deleted(t, c, "configmap", "done", "-n", ns, "--cascade=foreground")
	fixture.Free(t, c, ns, "configmap/done")
	refusing(t, c, ns, "UPDATE", collectorUser, "patch", "configmap", "done", "--type=merge", "-p",
		`{"metadata":{"labels":{"x":"y"}}}`)
	permitted(t, c, "user-"+ns, "get,list,watch,patch,delete", "*.*")
	until(t, c, "yes", "auth", "can-i", "patch", "configmaps", "-n", ns, "--as=user-"+ns)
	d := examine(t, c.As("user-"+ns), Options{}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/done": {"CollectorNotActing ConfigMap/done"}})
	wantEvidence(t, d.Stuck[0].Causes[0],
		"ValidatingAdmissionPolicy "+ns+
			" is called for UPDATE of configmaps and decides by who asks: it may refuse the garbage collector and not you")
}

// TestPolicyThatRefusesTheCollectorADeletion: an owner waits for a dependent that the garbage
// collector alone may not delete.
func TestPolicyThatRefusesTheCollectorADeletion(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "root"))
	owned(t, c, ns, "dependent", "root", true)
	fixture.Free(t, c, ns, "configmap/root")
	deleted(t, c, "configmap", "root", "-n", ns, "--cascade=foreground")
	refusing(t, c, ns, "DELETE", collectorUser, "delete", "configmap", "dependent")
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/root", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/root": {"AdmissionDenied ValidatingAdmissionPolicy/" + ns}})
	wantRemedy(t, d.Stuck[0].Causes[0], "It denies the DELETE of configmaps to the garbage collector and not to you")
}

// TestPolicyThatRefusesTheActor: the actor lives and may not update the object, although the user
// may.
func TestPolicyThatRefusesTheActor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, as(fixture.Deployment(ns, "policed", 1), "op-account"))
	c.Kubectl(t, "patch", "deployment", "policed", "-n", ns, "--subresource=status", "--type=merge", "-p",
		`{"status":{"replicas":1,"readyReplicas":1,"availableReplicas":1}}`)
	packs := fixture.Pack(t, "example.com/held", fmt.Sprintf("deployments: ['%s/policed']", ns))
	heldConfigMap(t, c, ns)
	user := "system:serviceaccount:" + ns + ":op-account"
	c.Kubectl(t, "create", "role", "op", "-n", ns, "--verb=get,patch,update", "--resource=configmaps")
	c.Kubectl(t, "create", "rolebinding", "op", "-n", ns, "--role=op", "--serviceaccount="+ns+":op-account")
	refusing(t, c, ns, "UPDATE", user, "patch", "configmap", "cm", "--type=merge", "-p",
		`{"metadata":{"labels":{"x":"y"}}}`)
	d := examine(t, c.Config(), Options{Known: packs}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"AdmissionDenied ValidatingAdmissionPolicy/" + ns}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "it was tried as ServiceAccount "+ns+
		"/op-account, which is that of the Test operator; with your own permissions it succeeds")
	if want := "kubectl gc unfinalize configmaps/cm -n " + ns +
		" --finalizer example.com/held --force"; last(cause) != want {
		t.Errorf("the last command is %q, want %q", last(cause), want)
	}
	if does := cause.Steps[len(cause.Steps)-1].Does; !strings.Contains(does, "to which it is not denied") {
		t.Errorf("of the last command it is said that it %s", does)
	}
}

// TestPolicyThatRefusesTheNamespaceController: the user's dry run succeeds. The control plane of
// tests runs all controllers as one user, so that none runs here.
func TestPolicyThatRefusesTheNamespaceController(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "kept"))
	refusing(t, c, ns, "DELETE", "system:serviceaccount:kube-system:namespace-controller", "delete", "configmap", "kept")
	deleted(t, c, "namespace", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" + ns: {"AdmissionDenied ValidatingAdmissionPolicy/" + ns}})
	wantRemedy(t, d.Stuck[0].Causes[0], "It denies the DELETE of configmaps to the namespace controller and not to you")
}

// TestPolicyThatRefusedAControllerByItsOwnWords: the object's condition repeats what the server
// said to the controller. A policy that is not called for updates of the object is not blamed.
func TestPolicyThatRefusedAControllerByItsOwnWords(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "cm"))
	refusing(t, c, ns, "UPDATE", collectorUser, "patch", "configmap", "cm", "--type=merge", "-p",
		`{"metadata":{"labels":{"x":"y"}}}`)
	message := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: not you", ns, ns)
	heldDeployment(t, c, ns, "app", "nobody.example.net/x",
		fmt.Sprintf(`{"conditions":[{"type":"Ready","status":"False","message":%q}]}`, message))
	d := examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{"Deployment/app": {"FinalizerActorUnknown Deployment/app"}})
	c.Kubectl(t, "patch", "validatingadmissionpolicy", ns, "--type=json", "-p",
		`[{"op":"replace","path":"/spec/matchConstraints/resourceRules/0/apiGroups","value":["apps"]},{"op":"replace","path":"/spec/matchConstraints/resourceRules/0/resources","value":["deployments"]}]`)
	d = examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{"Deployment/app": {"AdmissionDenied ValidatingAdmissionPolicy/" + ns,
		"FinalizerActorUnknown Deployment/app"}})
	wantRemedy(t, d.Stuck[0].Causes[0], "it has denied a write of the controller. It denies nothing to you")
}
