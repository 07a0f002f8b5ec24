package diagnose

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const bucket = "example.com/bucket"

// opOf is a name that no other test has: an operator is looked for in all namespaces.
func opOf(ns string) string { return "op-" + ns[strings.LastIndexByte(ns, '-')+1:] }

// operator makes the one workload of an operator, which a pack knows, with a ServiceAccount of its
// own and a container's text, and how many of its pods are ready.
func operator(t testing.TB, c *testcluster.Cluster, ns, container string, ready int) *finalizer.Registry {
	t.Helper()
	manifest := strings.NewReplacer("spec: {containers:", "spec: {serviceAccountName: op, containers:",
		"image: example.com/c", "image: example.com/c"+container).Replace(fixture.Deployment(ns, opOf(ns), 1))
	c.Apply(t, manifest)
	c.Kubectl(t, "patch", "deployment", opOf(ns), "-n", ns, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"replicas":1,"readyReplicas":%d}}`, ready))
	return fixture.Pack(t, bucket, fmt.Sprintf("deployments: ['%s/%s']", ns, opOf(ns)))
}

// stuckOn makes a ConfigMap that is being deleted and has a finalizer, and examines it.
func stuckOn(t testing.TB, c *testcluster.Cluster, ns, name string, known *finalizer.Registry,
	patch string) *v1alpha1.Diagnosis {
	t.Helper()
	c.Apply(t, fixture.ConfigMap(ns, "it", name))
	if patch != "" {
		c.Kubectl(t, "patch", "configmap", "it", "-n", ns, "--type=merge", "-p", patch)
	}
	fixture.Free(t, c, ns, "configmap/it")
	deleted(t, c, "configmap", "it", "-n", ns)
	return examine(t, c.Config(), Options{Known: known}, ns)
}

// wantSteps fails if the commands of a cause are not these, or one does not say what it does.
func wantSteps(t testing.TB, c v1alpha1.Cause, want ...string) {
	t.Helper()
	if strings.Join(c.Commands, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s: the commands are\n%s\nwant\n%s", c.Code, strings.Join(c.Commands, "\n"), strings.Join(want, "\n"))
	}
	for _, s := range c.Steps {
		if s.Does == "" {
			t.Errorf("%s does not say what it does", s.Command)
		}
	}
}

func wantRemedy(t testing.TB, c v1alpha1.Cause, text string) {
	t.Helper()
	if !strings.Contains(c.Remedy, text) {
		t.Errorf("%s: the remedy %q does not say %q", c.Code, c.Remedy, text)
	}
}

// TestActorWithoutItsRightsIsForbidden: the operator is alive, and its binding was deleted.
func TestActorWithoutItsRightsIsForbidden(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	d := stuckOn(t, c, ns, bucket, operator(t, c, ns, "", 1), "")
	wantCauses(t, d, map[string][]string{"ConfigMap/it": {"ActorForbidden ConfigMap/it"}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(
		t, cause, fmt.Sprintf(
			"ServiceAccount %[1]s/op, which Deployment %[1]s/%[2]s uses, may neither patch nor update configmaps in namespace %[1]s", ns, opOf(ns)))
	wantRemedy(t, cause, fmt.Sprintf(
		"Restore the binding that lets ServiceAccount %s/op update and patch configmaps, and let the Test operator finish.", ns))
	wantSteps(t, cause, fmt.Sprintf(
		"kubectl auth can-i patch configmaps --as=system:serviceaccount:%[1]s:op -n %[1]s", ns),
		fmt.Sprintf("kubectl gc unfinalize configmaps/it -n %s --finalizer %s --force", ns, bucket))
	if !strings.Contains(cause.Cost, "the bucket leaks") {
		t.Errorf("the cost is %q", cause.Cost)
	}

	// Its RoleBinding goes with a namespace that is being deleted, and cannot be made again there.
	deleted(t, c, "namespace", ns)
	d = examine(t, c.Config(), Options{Known: fixture.Pack(t, bucket,
		fmt.Sprintf("deployments: ['%s/%s']", ns, opOf(ns)))}, ns, subject{"configmaps/it", ns})
	wantRemedy(t, d.Stuck[0].Causes[0],
		"Nothing can be created in namespace "+ns+", which is being deleted: it takes a ClusterRoleBinding.")
}

// TestActorWhoseRoleLacksAVerb: the role that it has is named, and the command that is printed
// gives it the verbs.
func TestActorWhoseRoleLacksAVerb(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "role", "op", "-n", ns, "--verb=get,list,watch,delete", "--resource=configmaps")
	c.Kubectl(t, "create", "rolebinding", "op", "-n", ns, "--role=op", "--serviceaccount="+ns+":op")
	known := operator(t, c, ns, "", 1)
	cause := stuckOn(t, c, ns, bucket, known, "").Stuck[0].Causes[0]
	wantEvidence(
		t, cause, "Role op, which RoleBinding op gives it, allows get, list, watch and delete of configmaps, and neither patch nor update")
	wantRemedy(t, cause, "Add the verbs update and patch of configmaps to Role op, and let the Test operator finish.")
	patch := `[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["configmaps"],"verbs":["update","patch"]}}]`
	if want := "kubectl patch role/op --type=json -p '" + patch + "' -n " + ns; cause.Commands[1] != want {
		t.Errorf("the second command is %q, want %q", cause.Commands[1], want)
	}
	c.Kubectl(t, "patch", "role/op", "--type=json", "-p", patch, "-n", ns)
	testcluster.Eventually(t, "the server knows of it", func(context.Context) (bool, error) {
		return causesOf(examine(t, c.Config(), Options{Known: known},
			ns))["ConfigMap/it"][0] == "FinalizerActorAlive ConfigMap/it", nil
	})
}

// TestActorWithItsRightsIsAlive: nobody is accused who may.
func TestActorWithItsRightsIsAlive(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	permit(t, c, ns)
	d := stuckOn(t, c, ns, bucket, operator(t, c, ns, "", 1), "")
	wantCauses(t, d, map[string][]string{"ConfigMap/it": {"FinalizerActorAlive ConfigMap/it"}})
	wantSteps(t, d.Stuck[0].Causes[0], "kubectl describe configmaps/it -n "+ns,
		fmt.Sprintf("kubectl logs -n %s deployment/%s --all-containers --since=1m | grep it", ns, opOf(ns)),
		fmt.Sprintf("kubectl gc unfinalize configmaps/it -n %s --finalizer %s --force", ns, bucket))
}

// permit lets the operator write config maps.
func permit(t testing.TB, c *testcluster.Cluster, ns string) {
	t.Helper()
	c.Kubectl(t, "create", "role", "op", "-n", ns, "--verb=patch", "--resource=configmaps")
	c.Kubectl(t, "create", "rolebinding", "op", "-n", ns, "--role=op", "--serviceaccount="+ns+":op")
}

// TestAPauseOfAnotherProgramIsAGuess: what Crossplane heeds may mean nothing to who has put the finalizer
// there.
func TestAPauseOfAnotherProgramIsAGuess(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	permit(t, c, ns)
	d := stuckOn(t, c, ns, bucket, operator(t, c, ns, "", 1),
		`{"metadata":{"annotations":{"crossplane.io/paused":"true"}}}`)
	cause := d.Stuck[0].Causes[0]
	if want := `The Test operator is alive, and may ignore the object: its annotation crossplane.io/paused is "true".`; cause.Summary != want {
		t.Errorf("%q, want %q", cause.Summary, want)
	}
	wantEvidence(t, cause, `its annotation crossplane.io/paused is "true": it is not known whether its controllers honor that`)
}

// TestPausedObjectIsIgnored: its operator is alive, and the command that ends the pause is printed
// first.
func TestPausedObjectIsIgnored(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	permit(t, c, ns)
	operator(t, c, ns, "", 1)
	const bucket = "test.crossplane.io/bucket"
	known := fixture.Pack(t, bucket, fmt.Sprintf("deployments: ['%s/%s']", ns, opOf(ns)))
	d := stuckOn(t, c, ns, bucket, known, `{"metadata":{"annotations":{"crossplane.io/paused":"true"}}}`)
	wantCauses(t, d, map[string][]string{"ConfigMap/it": {"ActorPaused ConfigMap/it"}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, `its annotation crossplane.io/paused is "true": its controllers ignore it`)
	wantRemedy(t, cause, "End the pause, and let the Test operator finish. The Test operator deletes the bucket")
	wantSteps(t, cause, "kubectl describe configmaps/it -n "+ns,
		"kubectl annotate configmaps/it -n "+ns+" crossplane.io/paused-",
		fmt.Sprintf("kubectl gc unfinalize configmaps/it -n %s --finalizer %s --force", ns, bucket))
	if does := "has the Test operator work on it again: the Test operator deletes the bucket"; cause.Steps[1].Does != does ||
		cause.Steps[1].Risk != "" {
		t.Errorf("it %q at the risk %q, want %q at one that is not known", cause.Steps[1].Does, cause.Steps[1].Risk, does)
	}
	c.Kubectl(t, strings.Fields(cause.Commands[1])[1:]...)
	wantCauses(t, examine(t, c.Config(), Options{Known: known}, ns),
		map[string][]string{"ConfigMap/it": {"FinalizerActorAlive ConfigMap/it"}})
}

// TestActorOfOtherNamespacesIgnoresTheObject: it was started to watch another namespace.
func TestActorOfOtherNamespacesIgnoresTheObject(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	permit(t, c, ns)
	d := stuckOn(t, c, ns, bucket, operator(t, c, ns, ", env: [{name: WATCH_NAMESPACE, value: tenant-a}]", 1), "")
	wantCauses(t, d, map[string][]string{"ConfigMap/it": {"ActorNotWatching ConfigMap/it"}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, fmt.Sprintf("Deployment %s/%s watches namespace tenant-a only (WATCH_NAMESPACE)", ns, opOf(ns)))
	wantEvidence(t, cause, "the object is in namespace "+ns)
	wantSteps(t, cause, fmt.Sprintf("kubectl set env deployments.apps/%[2]s -n %[1]s WATCH_NAMESPACE=tenant-a,%[1]s", ns,
		opOf(ns)), fmt.Sprintf("kubectl gc unfinalize configmaps/it -n %s --finalizer %s --force", ns, bucket))
	c.Kubectl(t, strings.Fields(cause.Commands[0])[1:]...)
	wantCauses(t, examine(t, c.Config(),
		Options{Known: fixture.Pack(t, bucket, fmt.Sprintf("deployments: ['%s/%s']", ns, opOf(ns)))}, ns),
		map[string][]string{"ConfigMap/it": {"FinalizerActorAlive ConfigMap/it"}})
}

// TestUnknownFinalizerLeadsToWhoMayRemoveIt: the one workload that may is named before anything is
// removed.
func TestUnknownFinalizerLeadsToWhoMayRemoveIt(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator(t, c, ns, "", 1)
	permit(t, c, ns)
	d := stuckOn(t, c, ns, "mystery.example.net/x", nil, "")
	wantCauses(t, d, map[string][]string{"ConfigMap/it": {"FinalizerActorUnknown ConfigMap/it"}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(
		t, cause, fmt.Sprintf(
			"ServiceAccount %[1]s/op may patch configmaps (RoleBinding op); Deployment %[1]s/%[2]s uses it, 1 of 1 ready", ns,
			opOf(ns)))
	wantRemedy(t, cause, fmt.Sprintf(
		"Look at Deployment %s/%s first: RBAC lets no other workload write objects of this type", ns, opOf(ns)))
	wantSteps(t, cause, "kubectl describe configmaps/it -n "+ns, "kubectl logs deployments.apps/"+opOf(ns)+" -n "+ns,
		fmt.Sprintf("kubectl gc unfinalize configmaps/it -n %s --finalizer mystery.example.net/x --force", ns))
	if does := cause.Steps[2].Does; does != "removes the finalizer; it is unknown what is lost" ||
		!strings.Contains(cause.Cost, "It is unknown what is lost") {
		t.Errorf("the last step %q, the cost %q", does, cause.Cost)
	}
}

// TestActorThatCrashesIsNotStartedAgain: what its pod says is the evidence, and the remedy is to
// repair that.
func TestActorThatCrashesIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: %[1]s}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: op-1, namespace: %[1]s, labels: {app: %[2]s}}\nspec: {containers: [{name: c, image: example.com/c}]}\n", ns, opOf(ns)))
	c.Kubectl(t, "patch", "pod", "op-1", "-n", ns, "--subresource=status", "--type=merge", "-p", `{"status":{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-01-01T00:00:00Z"}],
		"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":false,"restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]}}`)
	d := stuckOn(t, c, ns, bucket, operator(t, c, ns, "", 0), "")
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, fmt.Sprintf("container c of Pod %s/op-1 has ended 7 times, last: OOMKilled, exit code 137", ns))
	wantRemedy(t, cause, "The Test operator is down and cannot just be started again. Raise its memory limit")
	if strings.Contains(cause.Remedy, "again and let it finish") {
		t.Errorf("the remedy is to start what is started: %s", cause.Remedy)
	}
	if want := fmt.Sprintf("kubectl logs pods/op-1 -n %s -c c --previous", ns); cause.Commands[0] != want {
		t.Errorf("the first command is %q, want %q", cause.Commands[0], want)
	}
}

// TestActorWhoseWebhookKeepsItFromStarting: the webhook that it serves itself refuses its pods, and
// the command that ends the circle is printed and works.
func TestActorWhoseWebhookKeepsItFromStarting(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	known := operator(t, c, ns, "", 0)
	c.Apply(t, strings.ReplaceAll(fixture.HarmlessWebhook(ns), "a.example.com", ns+".example.com"))
	t.Cleanup(func() { c.Kubectl(t, "delete", "validatingwebhookconfiguration", "op-webhook-"+ns) })
	message := fmt.Sprintf(
		`failed calling webhook "%[1]s.example.com": failed to call webhook: Post "https://hook.%[1]s.svc:443/": no endpoints available for service "hook"`, ns)
	c.Kubectl(t, "patch", "deployment", opOf(ns), "-n", ns, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"conditions":[{"type":"ReplicaFailure","status":"True","message":%q}]}}`, message))
	cause := stuckOn(t, c, ns, bucket, known, "").Stuck[0].Causes[0]
	wantRemedy(t, cause, "keeps its own pods from being made")
	c.Kubectl(t, "patch", "validatingwebhookconfigurations.admissionregistration.k8s.io/op-webhook-"+ns, "--type=json",
		"-p", `[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]`)
	if want := fmt.Sprintf(
		`kubectl patch validatingwebhookconfigurations.admissionregistration.k8s.io/op-webhook-%s --type=json -p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'`, ns); cause.Commands[1] != want {
		t.Errorf("the second command is %q, want %q", cause.Commands[1], want)
	}
}

// TestActorThatRunsOutsideIsNotMissed: that it is not seen means nothing, and its finalizer is
// removed by force only.
func TestActorThatRunsOutsideIsNotMissed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	known := fixture.Pack(t, bucket, "outside: true, note: Its log is in the seed.")
	d := stuckOn(t, c, ns, bucket, known, "")
	proxy := faultproxy.Start(t, c.Config())
	examine(t, proxy.Config(), Options{Known: known}, ns)
	if n := proxy.Count("GET", "/clusterrolebindings"); n > 1 { // with all types
		t.Errorf("RBAC was read %d times, which says nothing of it", n)
	}
	wantCauses(t, d, map[string][]string{"ConfigMap/it": {"FinalizerActorUnknown ConfigMap/it"}})
	wantRemedy(t, d.Stuck[0].Causes[0],
		"The Test operator normally runs outside the cluster: not seeing it here means nothing. Its log is in the seed. Check there that it is running")
	wantSteps(t, d.Stuck[0].Causes[0], "kubectl describe configmaps/it -n "+ns,
		fmt.Sprintf("kubectl gc unfinalize configmaps/it -n %s --finalizer %s --force", ns, bucket))
}

// TestFinalizerThatDestroys: to start its actor destroys what removing the finalizer keeps, and
// that is said first.
func TestFinalizerThatDestroys(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Deployment(ns, opOf(ns), 0))
	text := fmt.Sprintf(`title: Test
components: {Test operator: {deployments: ['%[1]s/%[3]s']}}
finalizers:
- {id: test, exact: %[2]s, kinds: ['*'], component: Test operator, does: deletes all that was deployed, ifRemoved: what was deployed stays, risk: none, polarity: opt-in-destructive, verified: source, source: 'https://example.com',
   protect: [{command: 'kubectl get {type}/{name} -n {namespace} -o yaml', does: shows what was deployed}]}
`, ns, bucket, opOf(ns))
	known, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	d := stuckOn(t, c, ns, bucket, known, "")
	wantCauses(t, d, map[string][]string{"ConfigMap/it": {"FinalizerActorDead ConfigMap/it"}})
	cause := d.Stuck[0].Causes[0]
	wantRemedy(t, cause, "Decide first what is to be kept: once it is started, the Test operator deletes. Honouring it deletes: the Test operator deletes all that was deployed")
	wantSteps(t, cause, fmt.Sprintf("kubectl get configmaps/it -n %s -o yaml", ns),
		fmt.Sprintf("kubectl gc unfinalize configmaps/it -n %s --finalizer %s", ns, bucket),
		fmt.Sprintf("kubectl scale deployments.apps/%s -n %s --replicas=1", opOf(ns), ns))
	if start := cause.Steps[2]; !cause.DataLoss || start.Risk != string(finalizer.DataLoss) {
		t.Errorf("data loss %v, risk of the start %q", cause.DataLoss, start.Risk)
	}
}

// TestCostNamesTheSettingThatKeepsThings, unless a step does it, and to nobody where no actor is
// left.
func TestCostNamesTheSettingThatKeepsThings(t *testing.T) {
	known := func(protect ...finalizer.Step) core.Responsible {
		return core.Responsible{Actor: actor.Actor{IsKnown: true,
			Known: finalizer.Known{IfRemoved: "the bucket leaks", Knob: "spec.keep: true", Protect: protect}}}
	}
	const setting = "To keep things instead, set spec.keep: true."
	if cost := known().Cost(); !strings.HasSuffix(cost, " "+setting) {
		t.Errorf("the cost is %q", cost)
	}
	if cost := known(finalizer.Step{Does: "keeps it"}).Cost(); strings.Contains(cost, setting) {
		t.Errorf("with a step that protects it the cost is %q", cost)
	}
	if loss := known().Loss(); strings.Contains(loss, setting) {
		t.Errorf("the loss is %q", loss)
	}
}
