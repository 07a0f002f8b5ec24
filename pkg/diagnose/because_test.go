package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// related is a pack of one finalizer, example.com/*, whose entry says more, and whose operator
// lives.
func related(t testing.TB, c *testcluster.Cluster, namespace, more string) *finalizer.Registry {
	t.Helper()
	operated(t, c, namespace)
	text := fmt.Sprintf(`title: Test
components: {Test operator: {leases: ['%s/operator']}}
finalizers:
- {id: test, prefix: example.com/, kinds: ['*'], component: Test operator, does: deletes the bucket, ifRemoved: the bucket leaks, risk: leaks-external, polarity: cleanup, verified: source, source: 'https://example.com', %s}
`, namespace, more)
	r, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// as makes a Deployment run as a ServiceAccount.
func as(manifest, account string) string {
	return strings.Replace(manifest, "containers:", "serviceAccountName: "+account+", containers:", 1)
}

const needsAccount = "needs: [{kind: ServiceAccount, nameField: spec.template.spec.serviceAccountName, scope: same-namespace}]"

// TestDependencyMissingByAPack: the actor lives and cannot do its work, since what the object names
// is gone. Recreated, it is no cause any more.
func TestDependencyMissingByAPack(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	packs := related(t, c, ns, needsAccount)
	c.Apply(t, as(strings.Replace(fixture.Deployment(ns, "app", 0), "labels:", "finalizers: [example.com/x], labels:", 1),
		"builder"))
	fixture.Free(t, c, ns, "deployment/app")
	deleted(t, c, "deployment", "app", "-n", ns)
	d := examine(t, c.Config(), Options{Known: packs}, ns)
	wantCauses(t, d, map[string][]string{"Deployment/app": {"DependencyMissing ServiceAccount/builder"}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "the Test operator needs ServiceAccount "+ns+"/builder, which does not exist")
	wantEvidence(t, cause, "by me")
	wantRemedy(t, cause, "Create ServiceAccount "+ns+"/builder again, as it was: then the Test operator can do its work")
	if !strings.Contains(cause.Cost, "the bucket leaks") {
		t.Errorf("the cost is %q", cause.Cost)
	}
	if want := fmt.Sprintf("kubectl gc unfinalize deployments.apps/app -n %s --finalizer example.com/x --force",
		ns); last(cause) != want {
		t.Errorf("the last command is %q, want %q", last(cause), want)
	}
	typed(t, c, cause.Commands[0])
	d = examine(t, c.Config(), Options{Known: packs}, ns)
	wantCauses(t, d, map[string][]string{"Deployment/app": {"FinalizerActorAlive Deployment/app"}})
}

// TestDependencyMissingWhereAFieldSaysItIs: a condition names the Secret without its namespace, and
// the object has the same name in another field. The pack knows which field has the namespace.
func TestDependencyMissingWhereAFieldSaysItIs(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, secrets := c.Namespace(t), c.Namespace(t)
	packs := related(t, c, ns, "needs: [{kind: Secret, nameField: spec.template.spec.serviceAccountName, "+
		"namespaceField: spec.template.spec.hostname, scope: field}]")
	c.Apply(t, as(strings.Replace(strings.Replace(fixture.Deployment(ns, "app", 0), "containers:",
		"hostname: "+secrets+", containers:", 1), "labels:", "finalizers: [example.com/x], labels:", 1), "own"))
	fixture.Free(t, c, ns, "deployment/app")
	c.Kubectl(t, "patch", "deployment", "app", "-n", ns, "--subresource=status", "--type=merge", "-p",
		`{"status":{"conditions":[{"type":"Synced","status":"False","message":"cannot get credentials: Secret \"own\" not found"}]}}`)
	deleted(t, c, "deployment", "app", "-n", ns)
	d := examine(t, c.Config(), Options{Known: packs}, ns)
	wantCauses(t, d, map[string][]string{"Deployment/app": {"DependencyMissing Secret/own"}})
	if cause := d.Stuck[0].Causes[0]; cause.Object.Namespace != secrets {
		t.Errorf("Secret %s/own is missing, want it in %s", cause.Object.Namespace, secrets)
	}
	// What is there is not missing, whatever the condition still says.
	c.Kubectl(t, "create", "secret", "generic", "own", "-n", secrets)
	d = examine(t, c.Config(), Options{Known: packs}, ns)
	wantCauses(t, d, map[string][]string{"Deployment/app": {"FinalizerActorAlive Deployment/app"}})
}

// TestDependencyMissingThatMayNotBeRead: what somebody may not read is not called absent.
func TestDependencyMissingThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	packs := related(t, c, ns, needsAccount)
	c.Apply(t, as(strings.Replace(fixture.Deployment(ns, "app", 0), "labels:", "finalizers: [example.com/x], labels:", 1),
		"builder"))
	fixture.Free(t, c, ns, "deployment/app")
	deleted(t, c, "deployment", "app", "-n", ns)
	c.Kubectl(t, "create", "role", "reader", "-n", ns, "--verb=get,list,watch,patch",
		"--resource=deployments.apps,leases.coordination.k8s.io")
	c.Kubectl(t, "create", "rolebinding", "reader", "-n", ns, "--role=reader", "--user=reader-"+ns)
	until(t, c, "yes", "auth", "can-i", "get", "leases.coordination.k8s.io", "-n", ns, "--as=reader-"+ns)
	d := examine(t, c.As("reader-"+ns), Options{Known: packs}, ns, subject{"deployments.apps/app", ns})
	wantCauses(t, d, map[string][]string{"Deployment/app": {"FinalizerActorAlive Deployment/app"}})
}

// TestDependencyMissingByTheObjectsOwnWords: a condition names what was not found, the object
// refers to it, and it is proven to be absent; of a finalizer that no pack knows too. What the
// object does not refer to must be absent from every namespace, and named as the API names it. What
// exists, and what can mean several types, is not claimed.
func TestDependencyMissingByTheObjectsOwnWords(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, other := c.Namespace(t), c.Namespace(t)
	behindIt := func(name, account, message string) {
		t.Helper()
		c.Apply(t, as(strings.Replace(fixture.Deployment(ns, name, 0), "labels:",
			"finalizers: [nobody.example.net/"+name+"], labels:", 1), account))
		fixture.Free(t, c, ns, "deployment/"+name)
		c.Kubectl(t, "patch", "deployment", name, "-n", ns, "--subresource=status", "--type=merge", "-p",
			fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"False","message":%q}]}}`, message))
		deleted(t, c, "deployment", name, "-n", ns)
	}
	c.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: there, namespace: %s}\n", ns))
	behindIt("absent", "builder", `cannot act: serviceaccounts "builder" not found`)
	behindIt("words", "other", `the service account "other" does not exist`)
	behindIt("there", "there", `serviceaccounts "there" not found`)
	c.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: creds-of-%s, namespace: %s}\n", ns, other))
	behindIt("foreign", "x", fmt.Sprintf(`secrets "creds-of-%s" not found`, ns))
	behindIt("nowhere", "x", fmt.Sprintf(`secrets "gone-of-%s" not found`, ns))
	behindIt("outside", "x", fmt.Sprintf(`lease "gone-of-%s" not found`, ns))
	behindIt("annotated", "x", fmt.Sprintf(`credential secret "creds-of-%s" does not exist`, ns))
	c.Kubectl(t, "annotate", "deployment", "annotated", "-n", ns, "example.com/credentials=creds-of-"+ns)
	behindIt("said", "x", fmt.Sprintf(`could not find Secret "creds" in namespace "%s"`, ns))
	behindIt("cluster", "x", `storageclass.storage.k8s.io "nope" not found`)
	d := examine(t, c.Config(), Options{Known: fixture.Packs(t)}, ns)
	for name, want := range map[string]string{
		"absent": "ServiceAccount " + ns + "/builder", "words": "ServiceAccount " + ns + "/other", "there": "", "foreign": "",
		"nowhere": "Secret gone-of-" + ns, "outside": "", "annotated": "Secret " + ns + "/creds-of-" + ns,
		"said": "Secret " + ns + "/creds", "cluster": "StorageClass nope",
	} {
		got := ""
		for _, cause := range stuckOf(t, d, name).Causes {
			if cause.Code == string(core.DependencyMissing) {
				got = cause.Object.Located()
			}
		}
		if got != want {
			t.Errorf("%s: missing is %q, want %q", name, got, want)
		}
	}
}

// TestDependencyMissingInANamespaceThatIsBeingDeleted: nothing can be created there, so that nobody
// is told to; what is left is said, with its cost.
func TestDependencyMissingInANamespaceThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, operators := c.Namespace(t), c.Namespace(t)
	packs := related(t, c, operators, needsAccount)
	c.Apply(t, as(strings.Replace(fixture.Deployment(ns, "app", 0), "labels:", "finalizers: [example.com/x], labels:", 1),
		"builder"))
	fixture.Free(t, c, ns, "deployment/app")
	deleted(t, c, "deployment", "app", "-n", ns)
	deleted(t, c, "namespace", ns)
	d := examine(t, c.Config(), Options{Known: packs}, ns)
	cause := stuckOf(t, d, "app").Causes[0]
	wantRemedy(t, cause, "Namespace "+ns+" is being deleted: ServiceAccount "+ns+
		"/builder cannot be created there. The remaining option is to remove the finalizer by hand.")
	wantEvidence(t, cause, "namespace "+ns+" is being deleted, so that nothing can be created in it")
	if !strings.Contains(cause.Cost, "the bucket leaks") {
		t.Errorf("the cost is %q", cause.Cost)
	}
	for _, command := range cause.Commands {
		if strings.Contains(command, "create") {
			t.Errorf("the command %q cannot be carried out", command)
		}
	}
	if _, err := c.Try(t.Context(), "", "create", "configmap", "x", "-n", ns); err == nil {
		t.Error("something can be created in it")
	}
}

// TestInUse: the users of the kinds that the pack names, with their namespaces and whether they are
// being deleted, and nobody else.
func TestInUse(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	packs := related(
		t, c, ns, "usedBy: [{group: apps, kind: Deployment, nameField: spec.template.spec.serviceAccountName, scope: same-namespace}]")
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: used, namespace: %s, finalizers: [example.com/x]}\n", ns)+
		as(fixture.Deployment(ns, "stays", 0), "used")+
		as(strings.Replace(fixture.Deployment(ns, "goes", 0), "labels:", "finalizers: [nobody.example.net/x], labels:", 1),
			"used")+
		as(fixture.Deployment(ns, "stranger", 0), "another"))
	fixture.Free(t, c, ns, "serviceaccount/used", "deployment/goes")
	deleted(t, c, "serviceaccount", "used", "-n", ns)
	deleted(t, c, "deployment", "goes", "-n", ns)
	d := examine(t, c.Config(), Options{Known: packs}, ns, subject{"serviceaccounts/used", ns})
	wantCauses(t, d, map[string][]string{"ServiceAccount/used": {"InUse ServiceAccount/used"}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "Deployment "+ns+"/goes uses it, and is being deleted")
	wantEvidence(t, cause, "Deployment "+ns+"/stays uses it")
	wantRemedy(t, cause, "Delete Deployment "+ns+"/goes and Deployment "+ns+
		"/stays first: then the Test operator removes the finalizer.")
	if want := "kubectl gc why deployments.apps/goes -n " + ns; cause.Commands[0] != want {
		t.Errorf("the first command is %q, want %q", cause.Commands[0], want)
	}
	if strings.Contains(fmt.Sprint(cause), "stranger") {
		t.Errorf("a Deployment that does not use it is named: %+v", cause)
	}
}

// TestInUseForAnother: what has to be deleted is the object to which the user refers, and a user
// that says no kind means any.
func TestInUseForAnother(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	packs := related(
		t, c, ns, "usedBy: [{group: autoscaling, kind: HorizontalPodAutoscaler, nameField: spec.scaleTargetRef.name, kindField: spec.behavior.kind, "+
			"forField: spec.scaleTargetRef, scope: same-namespace}]")
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: ServiceAccount
metadata: {name: used, namespace: %[1]s, finalizers: [example.com/x]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: usage, namespace: %[1]s}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: used}, maxReplicas: 2}
`, ns))
	fixture.Free(t, c, ns, "serviceaccount/used")
	deleted(t, c, "serviceaccount", "used", "-n", ns)
	cause := stuckOf(t, examine(t, c.Config(), Options{Known: packs}, ns, subject{"serviceaccounts/used", ns}),
		"used").Causes[0]
	wantEvidence(t, cause, "HorizontalPodAutoscaler "+ns+"/usage uses it, for Deployment used")
	wantRemedy(t, cause, "Delete Deployment "+ns+"/used first: then the Test operator removes the finalizer.")
	if want := "kubectl gc delete deployments.apps/used -n " + ns + " --dry-run"; cause.Code != string(core.InUse) ||
		cause.Commands[0] != want {
		t.Errorf("%s: the first command is %q, want %q", cause.Code, cause.Commands[0], want)
	}
}

// TestFinalizerOrphaned: its parent is gone, or selects the object no longer; and while it does, it
// is not.
func TestFinalizerOrphaned(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	packs := related(
		t, c, ns, "parent: {group: networking.k8s.io, kind: NetworkPolicy, name: '{open}', scope: same-namespace, selectors: [spec.podSelector]}")
	c.Apply(t, strings.Replace(fixture.Deployment(ns, "app", 0), "labels:",
		"finalizers: [example.com/policy], labels:", 1))
	fixture.Free(t, c, ns, "deployment/app")
	deleted(t, c, "deployment", "app", "-n", ns)
	for _, test := range []struct{ selector, cause, evidence string }{
		{"", "FinalizerOrphaned Deployment/app", "it was added for NetworkPolicy " + ns + "/policy, which does not exist"},
		{"{matchLabels: {app: app}}", "FinalizerActorAlive Deployment/app", ""},
		{"{matchLabels: {app: other}}", "FinalizerOrphaned Deployment/app", "which no longer selects this object"},
	} {
		if test.selector != "" {
			c.Apply(t, fmt.Sprintf(
				"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: policy, namespace: %s}\nspec: {podSelector: %s}\n", ns, test.selector))
		}
		d := examine(t, c.Config(), Options{Known: packs}, ns)
		wantCauses(t, d, map[string][]string{"Deployment/app": {test.cause}})
		wantEvidence(t, d.Stuck[0].Causes[0], test.evidence)
	}
}

// TestFinalizerOrphanedByAKindThatIsNotServed: a parent of the same namespace, of the group of an owner,
// cannot exist where its kind is not served. It may where discovery hides that, where it can be in
// another cluster, and where no owner says that the actor has parents of this group.
func TestFinalizerOrphanedByAKindThatIsNotServed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, strings.Replace(fixture.Deployment(ns, "app", 0), "labels:",
		"finalizers: [example.com/policy], labels:", 1))
	fixture.Free(t, c, ns, "deployment/app")
	deleted(t, c, "deployment", "app", "-n", ns)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(faultproxy.Groups, faultproxy.WithoutGroup("networking.k8s.io"))
	const sameNamespace = "group: networking.k8s.io, kind: Parent, name: '{open}', scope: same-namespace"
	for _, test := range []struct {
		parent, owner string
		config        *rest.Config
		code          core.Code
	}{
		{sameNamespace, "policy.example.com/v1", c.Config(), core.FinalizerActorAlive},
		{sameNamespace, "networking.k8s.io/v2", c.Config(), core.FinalizerOrphaned},
		{sameNamespace, "networking.k8s.io/v2", proxy.Config(), core.FinalizerActorAlive},
		{"group: networking.k8s.io, kind: Parent, name: '{open}', scope: cluster", "networking.k8s.io/v2", c.Config(),
			core.FinalizerActorAlive},
	} {
		c.Kubectl(t, "patch", "deployment/app", "-n", ns, "--type=merge", "-p",
			`{"metadata":{"ownerReferences":[{"apiVersion":"`+test.owner+`","kind":"Parent","name":"policy","uid":"1"}]}}`)
		packs := related(t, c, ns, "parent: {"+test.parent+"}")
		cause := stuckOf(t, examine(t, test.config, Options{Known: packs}, ns), "app").Causes[0]
		if cause.Code != string(test.code) {
			t.Errorf("%s of %s: %s, want %s", test.parent, test.owner, cause.Code, test.code)
		}
		if test.code == core.FinalizerOrphaned {
			wantEvidence(t, cause, "it was added for Parent "+ns+"/policy, and the cluster serves no Parent of networking.k8s.io")
		}
	}
}
