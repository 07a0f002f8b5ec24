package diagnose

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// path writes through which objects a cause was found.
func path(c v1alpha1.Cause) string {
	var kinds []string
	for _, via := range c.Via {
		kinds = append(kinds, via.Kind)
	}
	return strings.Join(kinds, " ")
}

// TestAClaimIsFollowedToTheManagedResourceThatStays: its composite waits in the foreground for a
// managed resource whose ProviderConfig is gone. That Crossplane is down is reported too, and the
// claim is not the end.
func TestAClaimIsFollowedToTheManagedResourceThatStays(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	tenant(t, c, ns)
	deleted(t, c, "database/claim", "-n", ns)
	deleted(t, c, "xdatabase/"+ns, "--cascade=foreground")
	deleted(t, c, "objects.kubernetes.crossplane.io/"+ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"databases.platform.example.org/claim", ns})
	wantCauses(t, d, map[string][]string{"Database/claim": {
		"DependencyMissing ProviderConfig/" + ns, "FinalizerActorNotFound Object/" + ns, "FinalizerActorDead Database/claim",
	}})
	causes := d.Stuck[0].Causes
	wantEvidence(
		t, causes[0], `its condition Synced is False (ReconcileError): connect failed: cannot get provider config: ProviderConfig.kubernetes.crossplane.io "`+ns+`" not found`)
	wantEvidence(t, causes[0], "ProviderConfig "+ns+" does not exist")
	wantRemedy(t, causes[0], "Create ProviderConfig "+ns+" again")
	if got := path(causes[0]); got != "XDatabase Object" {
		t.Errorf("the cause was found through %q, want the composite and the managed resource", got)
	}
	wantEvidence(t, causes[2], "XDatabase "+ns+" still exists, and its deletion is what the finalizer is for")
	if want := "XDatabase " + ns + " is still being deleted then."; !strings.Contains(causes[2].Cost, want) {
		t.Errorf("the cost does not say %q: %s", want, causes[2].Cost)
	}
}

// TestAClaimOfADeadCrossplaneNamesWhatWouldStay: nobody has deleted the composite. Removing the
// finalizer by hand leaves it running, so that comes after its deletion.
func TestAClaimOfADeadCrossplaneNamesWhatWouldStay(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"Foreground", "Background"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			claimOfDeadCrossplane(t, policy)
		})
	}
}

// claimOfDeadCrossplane tests a claim whose composite Crossplane is to delete with a policy. Only
// in the foreground it would wait for it.
func claimOfDeadCrossplane(t *testing.T, policy string) {
	c := withPlatforms(t)
	ns := c.Namespace(t)
	tenant(t, c, ns)
	c.Kubectl(t, "patch", "database/claim", "-n", ns, "--type=merge", "-p",
		fmt.Sprintf(`{"spec":{"compositeDeletePolicy":%q}}`, policy))
	deleted(t, c, "database/claim", "-n", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"databases.platform.example.org/claim", ns})
	wantCauses(t, d, map[string][]string{"Database/claim": {"FinalizerActorDead Database/claim"}})
	cause := d.Stuck[0].Causes[0]
	if want := "XDatabase " + ns + " stays, and nobody deletes it then."; !strings.Contains(cause.Cost, want) {
		t.Errorf("the cost does not say %q: %s", want, cause.Cost)
	}
	first := slices.Index(cause.Commands, "kubectl gc delete xdatabases.platform.example.org/"+ns)
	removal := slices.Index(cause.Commands,
		"kubectl gc unfinalize databases.platform.example.org/claim -n "+ns+
			" --finalizer finalizer.apiextensions.crossplane.io")
	if first < 1 || removal != first+1 {
		t.Errorf("the commands start Crossplane, delete the composite, and remove the finalizer in another order: %q",
			cause.Commands)
	}
	if removal > 0 && !strings.Contains(cause.Steps[removal].Does, "XDatabase "+ns+" stays, and nobody deletes it then") {
		t.Errorf("the last command does not say what it leaves: %q", cause.Steps[removal].Does)
	}

	// Without the composite the finalizer alone is left.
	c.Kubectl(t, "delete", "xdatabase", ns)
	d = examine(t, c.Config(), Options{}, ns, subject{"databases.platform.example.org/claim", ns})
	wantCauses(t, d, map[string][]string{"Database/claim": {"FinalizerActorDead Database/claim"}})
	if cost := d.Stuck[0].Causes[0].Cost; strings.Contains(cost, "XDatabase") {
		t.Errorf("the composite is gone, and the cost names it: %s", cost)
	}
}

// TestAnXRDIsFollowedToItsComposites: Crossplane deletes them first, while the definitions wait.
// The type stays, since its deletion would be a gap to the other tests.
func TestAnXRDIsFollowedToItsComposites(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	group := ns + ".example.org"
	c.Apply(t, fmt.Sprintf(
		"apiVersion: apiextensions.crossplane.io/v1\nkind: CompositeResourceDefinition\nmetadata: {name: xapps.%s, finalizers: [defined.apiextensions.crossplane.io]}\n", group))
	xrd := "compositeresourcedefinition/xapps." + group
	fixture.Free(t, c, "", xrd)
	owner := fmt.Sprintf(
		"ownerReferences: [{apiVersion: apiextensions.crossplane.io/v1, kind: CompositeResourceDefinition, name: xapps.%s, uid: %s, controller: true, blockOwnerDeletion: true}], annotations:", group, uidOf(t, c, "", xrd))
	c.Apply(t, strings.Replace(definitionOf(group, "xapps", "XApp", "Cluster", "composite"), "annotations:", owner, 1))
	c.Apply(t, fmt.Sprintf(
		"apiVersion: %s/v1\nkind: XApp\nmetadata: {name: shop, finalizers: [nobody.example.net/x]}\n", group))
	fixture.Free(t, c, "", "xapps."+group+"/shop")
	deleted(t, c, xrd)
	deleted(t, c, "xapps."+group+"/shop")
	d := examine(t, c.Config(), Options{}, ns,
		subject{"compositeresourcedefinitions.apiextensions.crossplane.io/xapps." + group, ""})
	wantCauses(t, d, map[string][]string{"CompositeResourceDefinition/xapps." + group: {
		"FinalizerActorUnknown XApp/shop", "FinalizerActorDead CompositeResourceDefinition/xapps." + group,
	}})
	if got := path(d.Stuck[0].Causes[0]); got != "CustomResourceDefinition" {
		t.Errorf("the cause was found through %q, want the CustomResourceDefinition", got)
	}
	wantEvidence(t, d.Stuck[0].Causes[1], "CustomResourceDefinition xapps."+group+" still exists")
}

// TestAnXRDOfCompositesInNamespaces: Crossplane does not delete these, so that waiting for it does not
// help; those that somebody has deleted are looked into.
func TestAnXRDOfCompositesInNamespaces(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	group := ns + ".example.org"
	c.Apply(t, definitionOf(group, "apps", "App", "Namespaced", "composite")+fmt.Sprintf(`---
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: apps.%[1]s, finalizers: [defined.apiextensions.crossplane.io]}
spec: {group: %[1]s, scope: Namespaced, names: {kind: App, plural: apps}}
`, group))
	xrd := "compositeresourcedefinition/apps." + group
	fixture.Free(t, c, "", xrd)
	c.Apply(t, fmt.Sprintf("apiVersion: %s/v1\nkind: App\nmetadata: {name: shop, namespace: %s, finalizers: [nobody.example.net/x]}\n",
		group, ns))
	fixture.Free(t, c, ns, "apps."+group+"/shop")
	deleted(t, c, xrd)
	of := subject{"compositeresourcedefinitions.apiextensions.crossplane.io/apps." + group, ""}
	d := examine(t, c.Config(), Options{}, "", of)
	own := "FinalizerActorDead CompositeResourceDefinition/apps." + group
	wantCauses(t, d, map[string][]string{"CompositeResourceDefinition/apps." + group: {
		"InUse CompositeResourceDefinition/apps." + group, own,
	}})
	first := d.Stuck[0].Causes[0]
	wantEvidence(t, first, "App "+ns+"/shop is to be deleted first, and it deletes no composite resources that are in namespaces")
	wantRemedy(t, first, "Delete App "+ns+"/shop first: then Crossplane removes the finalizer.")
	deleted(t, c, "apps."+group+"/shop", "-n", ns)
	d = examine(t, c.Config(), Options{}, "", of)
	wantCauses(t, d, map[string][]string{"CompositeResourceDefinition/apps." + group: {"FinalizerActorUnknown App/shop", own}})
}

// TestAClusterIsFollowedToTheMachineThatStays: ownerReferences that do not block lead from the
// Cluster to its Machines, and a link from there to the infrastructure. What the infrastructure
// lacks is the cause, and not the controllers that wait for it.
func TestAClusterIsFollowedToTheMachineThatStays(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	owner, refs := "", ""
	for _, o := range []struct{ kind, resource, finalizer, spec string }{
		{"Cluster", "clusters", "cluster.cluster.x-k8s.io", "{}"},
		{"MachineDeployment", "machinedeployments", "cluster.x-k8s.io/machinedeployment", "{clusterName: prod}"},
		{"MachineSet", "machinesets", "cluster.x-k8s.io/machineset", "{clusterName: prod}"},
		{"Machine", "machines", "machine.cluster.x-k8s.io",
			"{clusterName: prod, infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1, kind: TestMachine, name: prod}}"},
	} {
		c.Apply(t, fmt.Sprintf(
			"apiVersion: cluster.x-k8s.io/v1\nkind: %s\nmetadata: {name: prod, namespace: %s, finalizers: [%s], ownerReferences: [%s]}\nspec: %s\n", o.kind, ns, o.finalizer, refs, o.spec))
		owner = o.resource + ".cluster.x-k8s.io/prod"
		refs = fmt.Sprintf("{apiVersion: cluster.x-k8s.io/v1, kind: %s, name: prod, uid: %s}", o.kind, uidOf(t, c, ns, owner))
		fixture.Free(t, c, ns, owner)
	}
	c.Apply(t, fmt.Sprintf(
		"apiVersion: infrastructure.cluster.x-k8s.io/v1\nkind: TestMachine\nmetadata: {name: prod, namespace: %s, finalizers: [nobody.example.net/machine]}\n", ns))
	fixture.Free(t, c, ns, "testmachine/prod")
	for _, resource := range []string{"clusters", "machinedeployments", "machinesets", "machines"} {
		deleted(t, c, resource+".cluster.x-k8s.io/prod", "-n", ns)
	}
	deleted(t, c, "testmachine/prod", "-n", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"clusters.cluster.x-k8s.io/prod", ns})
	wantCauses(t, d, map[string][]string{"Cluster/prod": {"FinalizerActorUnknown TestMachine/prod"}})
	if got := path(d.Stuck[0].Causes[0]); got != "MachineDeployment MachineSet Machine" {
		t.Errorf("the cause was found through %q, want the MachineDeployment, the MachineSet and the Machine", got)
	}
}

// TestAnApplicationIsFollowedToItsResources: those that status.resources lists and that are being
// deleted, also one that says that it stays: Argo CD deletes nothing before that is gone. It does not
// see one that has owners.
func TestAnApplicationIsFollowedToItsResources(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "held", "nobody.example.net/x")+
		strings.Replace(fixture.ConfigMap(ns, "kept", "nobody.example.net/y"), "metadata: {",
			"metadata: {annotations: {argocd.argoproj.io/sync-options: Delete=false}, ", 1)+
		strings.Replace(fixture.ConfigMap(ns, "owned", "nobody.example.net/z"), "metadata: {",
			"metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: other, uid: other}], ", 1)+
		fmt.Sprintf(`---
apiVersion: argoproj.io/v1
kind: Application
metadata: {name: guestbook, namespace: %[1]s, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec: {destination: {server: 'https://kubernetes.default.svc', namespace: %[1]s}}
status:
  resources:
  - {kind: ConfigMap, version: v1, name: held, namespace: %[1]s}
  - {kind: ConfigMap, version: v1, name: kept, namespace: %[1]s}
  - {kind: ConfigMap, version: v1, name: owned, namespace: %[1]s}
  - {kind: ConfigMap, version: v1, name: gone, namespace: %[1]s}
`, ns))
	fixture.Free(t, c, ns, "application/guestbook", "configmap/held", "configmap/kept", "configmap/owned")
	deleted(t, c, "application/guestbook", "configmap/held", "configmap/kept", "configmap/owned", "-n", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"applications.argoproj.io/guestbook", ns})
	wantCauses(t, d, map[string][]string{"Application/guestbook": {"FinalizerActorUnknown ConfigMap/held",
		"FinalizerActorUnknown ConfigMap/kept"}})
	for _, cause := range d.Stuck[0].Causes {
		wantEvidence(t, cause, fmt.Sprintf("Argo CD deletes nothing of Application %[1]s/guestbook until ConfigMap %[1]s/%s is gone",
			ns, cause.Object.Name))
	}
}

// TestNothingIsAdvisedAboutWhatConfirmsNoLink: what holds it is told without a command, and its
// deletion is not tried.
func TestNothingIsAdvisedAboutWhatConfirmsNoLink(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "held", "nobody.example.net/x")+fixture.ConfigMap(ns, "alive")+fmt.Sprintf(`---
apiVersion: argoproj.io/v1
kind: Application
metadata: {name: guestbook, namespace: %[1]s, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec: {destination: {server: 'https://kubernetes.default.svc', namespace: %[1]s}}
status:
  resources:
  - {kind: ConfigMap, version: v1, name: held, namespace: %[1]s}
  - {kind: ConfigMap, version: v1, name: alive, namespace: %[1]s}
`, ns))
	fixture.Free(t, c, ns, "application/guestbook", "configmap/held")
	deleted(t, c, "application/guestbook", "configmap/held", "-n", ns)
	proxy := faultproxy.Start(t, c.Config())
	d := examine(t, proxy.Config(), Options{}, ns, subject{"applications.argoproj.io/guestbook", ns})
	wantCauses(t, d, map[string][]string{"Application/guestbook": {"FinalizerActorUnknown ConfigMap/held"}})
	cause := d.Stuck[0].Causes[0]
	wantRemedy(t, cause, "leave that to whoever it belongs to")
	if len(cause.Commands) != 0 {
		t.Errorf("it is advised to run %q", cause.Commands)
	}
	if n := proxy.Count(http.MethodDelete, "/configmaps/"); n != 0 {
		t.Errorf("%d deletions of config maps were tried", n)
	}
}

// TestLinksThatCannotBeReadAreAGap: whether the composite exists is not known to somebody who may
// not list it. If Crossplane waits for that, nothing else is said of the finalizer, and in no case
// that it can be removed.
func TestLinksThatCannotBeReadAreAGap(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	tenant(t, c, ns)
	deleted(t, c, "database/claim", "-n", ns)
	permitted(t, c, ns, "get,list,watch", "databases.platform.example.org,namespaces,events,deployments.apps")
	until(t, c, "yes", "auth", "can-i", "list", "databases.platform.example.org", "--as="+ns)
	for policy, want := range map[string]core.Code{"Foreground": core.BlockerHidden,
		"Background": core.FinalizerActorDead} {
		c.Kubectl(t, "patch", "database/claim", "-n", ns, "--type=merge", "-p",
			fmt.Sprintf(`{"spec":{"compositeDeletePolicy":%q}}`, policy))
		d := examine(t, c.As(ns), Options{}, ns, subject{"databases.platform.example.org/claim", ns})
		if d.Complete {
			t.Errorf("%s: the answer is complete although the composites could not be listed", policy)
		}
		causes := d.Stuck[0].Causes
		if causes[0].Code != string(want) {
			t.Fatalf("%s: the first cause is %s, want %s", policy, causes[0].Code, want)
		}
		wantEvidence(t, causes[0], "you may not list xdatabases.platform.example.org")
		if want == core.BlockerHidden {
			wantRemedy(t, causes[0], "can wait for objects that cannot be seen")
		}
		for _, cause := range causes {
			if slices.ContainsFunc(cause.Commands, func(line string) bool { return strings.Contains(line, "unfinalize") }) {
				t.Errorf("%s: nobody knows what removing the finalizer leaves, and %s has a command for it: %q", policy, cause.Code,
					cause.Commands)
			}
		}
	}
}

// TestObjectsWaitedForInVainAreFollowedIntoOtherNamespaces: an Application leads out of the
// namespace that was listed first. An end of a kind that is not served is not waited for.
func TestObjectsWaitedForInVainAreFollowedIntoOtherNamespaces(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns, guest := c.Namespace(t), c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(guest, "held", "nobody.example.net/x")+fmt.Sprintf(`---
apiVersion: argoproj.io/v1
kind: Application
metadata: {name: guestbook, namespace: %[1]s, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec: {destination: {namespace: %[2]s}}
status:
  resources:
  - {kind: ConfigMap, version: v1, name: held, namespace: %[2]s}
  - {kind: Gone, group: gone.example.com, version: v1, name: gone, namespace: %[2]s}
`, ns, guest))
	fixture.Free(t, c, ns, "application/guestbook")
	fixture.Free(t, c, guest, "configmap/held")
	deleted(t, c, "application/guestbook", "-n", ns)
	deleted(t, c, "configmap/held", "-n", guest)
	client, catalog := fixture.Connect(t, c.Config())
	app := graph.Ref{APIVersion: "argoproj.io/v1", Kind: "Application", Resource: "applications", Namespace: ns,
		Name: "guestbook", UID: uidOf(t, c, ns, "application/guestbook")}
	opts := Options{Known: fixture.Packs(t),
		limits: core.Limits{Young: -1, Pause: func(context.Context, time.Time) error { return nil }}}
	d, err := ExamineObjects(t.Context(), client, catalog, []graph.Ref{app}, opts)
	if err != nil {
		t.Fatal(err)
	}
	wantCauses(t, d, map[string][]string{"Application/guestbook": {"FinalizerActorUnknown ConfigMap/held"}})
}

// TestOnlyAWarningSaysNoMoreThanARightThatLacks: what else an actor waits for is a cause of its own.
func TestOnlyAWarningSaysNoMoreThanARightThatLacks(t *testing.T) {
	t.Parallel()
	warned := core.Finding{Code: core.ActorWaiting, Finalizer: "x", Warned: true}
	hook := core.Finding{Code: core.ActorWaiting, Finalizer: "x", Sentence: "waits for a hook"}
	other := core.Finding{Code: core.ActorWaiting, Finalizer: "y", Warned: true}
	left := withoutWarnings([]core.Finding{warned, hook, other}, "x")
	if len(left) != 2 || left[0].Sentence != hook.Sentence || left[1].Finalizer != "y" {
		t.Errorf("%+v", left)
	}
}
