package facts

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/shelf.yaml
var shelfManifest string

var (
	shelves    = schema.GroupVersionResource{Group: "platform.example.org", Version: "v1", Resource: "shelves"}
	namespaced = schema.GroupVersionResource{Group: "kubernetes.m.crossplane.io", Version: "v1alpha1",
		Resource: "objects"}
	protections = schema.GroupVersionResource{Group: "protection.crossplane.io", Version: "v1beta1", Resource: "usages"}
)

// TestCrossplane2 tests what Crossplane 2 and the namespaced kinds of provider-kubernetes do, as
// TestCrossplane does of Crossplane 1. Crossplane composes by a function that the test serves.
func TestCrossplane2(t *testing.T) {
	p := &platform{Cluster: testcluster.Start(t, testcluster.Controllers(controllers...))}
	p.crossplane = beside.StartCrossplane2(t, p.Cluster)
	p.provider = beside.StartProvider(t, p.Cluster)
	kubeconfig, err := os.ReadFile(p.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	p.Kubectl(t, "create", "secret", "generic", "self", "-n", beside.System,
		"--from-literal=kubeconfig="+string(kubeconfig))
	p.Apply(t, shelfManifest)
	read(t, p.Cluster, xrds, "").until("shelves.platform.example.org", "is established",
		func(o *unstructured.Unstructured) bool { return condition(o, "Established") })
	learnTypes(t, p.Cluster)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *platform)
	}{
		{"ComesBack", composedComesBack},
		{"Background", func(t *testing.T, p *platform) { shelfDeleted(t, p, metav1.DeletePropagationBackground) }},
		{"Foreground", func(t *testing.T, p *platform) { shelfDeleted(t, p, metav1.DeletePropagationForeground) }},
		{"Replay", replayed},
		{"ReplayInTheCluster", replayedInTheCluster},
		{"KeptForASibling", keptForASibling},
		{"Paused", pausedManaged},
		{"MissingSecret", missingSecret},
		{"Definition", definitionOfNamespaced},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, p) })
	}
}

// shelf is a composite of Crossplane 2 with what it is made of, and the ProviderConfigUsages of that.
type shelf struct {
	ns              string
	composite       *unstructured.Unstructured
	managed, users  []unstructured.Unstructured
	labels, outside []unstructured.Unstructured
}

// newShelf makes a composite in a namespace of its own and waits until all that it composes is ready.
func newShelf(t *testing.T, p *platform) shelf {
	t.Helper()
	s := shelf{ns: p.Namespace(t)}
	name := "top-" + s.ns
	p.Apply(t, fmt.Sprintf("{apiVersion: platform.example.org/v1, kind: Shelf, metadata: {name: %s}, spec: {size: small}}",
		name), "-n", s.ns)
	ready := func(o *unstructured.Unstructured) bool { return condition(o, "Ready") }
	exists := func(*unstructured.Unstructured) bool { return true }
	s.composite = read(t, p.Cluster, shelves, s.ns).until(name, "is ready", ready)
	for _, suffix := range []string{"-settings", "-access"} {
		read(t, p.Cluster, namespaced, s.ns).until(name+suffix, "is ready", ready)
		s.outside = append(s.outside, *read(t, p.Cluster, configMaps, "external").until(name+suffix, "exists", exists))
	}
	s.age(t, p)
	s.managed = read(t, p.Cluster, namespaced, s.ns).list("")
	s.labels = append(s.labels, *read(t, p.Cluster, configMaps, s.ns).until(name+"-labels", "exists", exists))
	s.users = read(t, p.Cluster, schema.GroupVersionResource{Group: "kubernetes.m.crossplane.io", Version: "v1alpha1",
		Resource: "providerconfigusages"}, s.ns).list("")
	return s
}

// age makes the managed resources an hour old, for the reason that platform.age tells.
func (s shelf) age(t *testing.T, p *platform) {
	t.Helper()
	created := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	p.Kubectl(t, "annotate", "objects.kubernetes.m.crossplane.io", "--all", "-n", s.ns, "--overwrite",
		"crossplane.io/external-create-pending="+created, "crossplane.io/external-create-succeeded="+created)
}

// all gives the uids of what a plan of its deletion has to name.
func (s shelf) all() []types.UID {
	return slices.Concat([]types.UID{s.composite.GetUID()}, uids(s.managed), uids(s.users), uids(s.labels))
}

// back gives what the plan of a deletion says that comes back, as "ConfigMap by Crossplane of Shelf".
func back(t *testing.T, c *testcluster.Cluster, args ...string) []string {
	t.Helper()
	all := []string{}
	for _, r := range planOf(t, c, args...).Recreated {
		all = append(all, fmt.Sprintf("%s by %s of %s", r.Object.Kind, r.Program, r.Owner.Kind))
	}
	slices.Sort(all)
	return all
}

func wantBack(t *testing.T, c *testcluster.Cluster, want []string, args ...string) {
	t.Helper()
	if got := back(t, c, args...); !slices.Equal(got, want) {
		t.Errorf("the plan of %q says that these come back: %q, want %q", args, got, want)
	}
}

// composedComesBack: what a composite composes comes back when it is deleted alone, and the plan says
// so. It does not if the composite is paused, or goes too.
func composedComesBack(t *testing.T, p *platform) {
	s := newShelf(t, p)
	name, maps := s.composite.GetName(), read(t, p.Cluster, configMaps, s.ns)
	composed := []string{"configmap/" + name + "-labels", "objects.kubernetes.m.crossplane.io/" + name + "-access",
		"-n", s.ns}
	wantBack(t, p.Cluster, []string{"ConfigMap by Crossplane of Shelf", "Object by Crossplane of Shelf"}, composed...)
	wantBack(t, p.Cluster, []string{}, append(composed, "shelves.platform.example.org/"+name)...)
	wantBack(t, p.Cluster, []string{}, "namespace/"+s.ns)
	p.Kubectl(t, append([]string{"delete"}, composed...)...)
	maps.madeAgain(name+"-labels", s.labels[0].GetUID())
	read(t, p.Cluster, namespaced, s.ns).until(name+"-access", "is made again",
		func(o *unstructured.Unstructured) bool { return !slices.Contains(uids(s.managed), o.GetUID()) })

	p.Kubectl(t, "annotate", "shelves.platform.example.org", name, "-n", s.ns, "crossplane.io/paused=true")
	read(t, p.Cluster, shelves, s.ns).until(name, "is seen to be paused", func(o *unstructured.Unstructured) bool {
		return reason(o, "Synced") == "ReconcilePaused"
	})
	wantBack(t, p.Cluster, []string{}, composed...)
	r := record.Start(t, p.Config())
	p.Kubectl(t, "delete", composed[0], "-n", s.ns)
	p.Kubectl(t, "annotate", "shelves.platform.example.org", name, "-n", s.ns, "example.org/touched=true")
	// Another composite is made, whose end shows that Crossplane has had the time.
	newShelf(t, p)
	if h := r.Settle(t).In(s.ns).Of("configmaps"); len(h.Kinds(record.Created)) > 0 {
		t.Errorf("a paused composite makes a config map again: %v", h)
	}
	p.Kubectl(t, "annotate", "shelves.platform.example.org", name, "-n", s.ns, "crossplane.io/paused-")
	maps.until(name+"-labels", "is made again once the pause has ended",
		func(*unstructured.Unstructured) bool { return true })
}

// reason gives that of a condition.
func reason(o *unstructured.Unstructured, kind string) string {
	return fmt.Sprint(conditionOf(o, kind)["reason"])
}

// shelfDeleted: the plan of a composite names exactly what then goes, in the background and in the
// foreground. The config maps that the managed resources stand for are the provider's affair.
func shelfDeleted(t *testing.T, p *platform, policy metav1.DeletionPropagation) {
	s := newShelf(t, p)
	name := s.composite.GetName()
	args := []string{"shelves.platform.example.org/" + name, "-n", s.ns}
	if policy == metav1.DeletePropagationForeground {
		args = append(args, "--cascade=foreground")
	}
	plan := planned(t, p.Cluster, args...)
	all := s.all()
	slices.Sort(all)
	if !slices.Equal(plan, all) {
		t.Errorf("the plan deletes %v, and there are %v", plan, all)
	}
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, shelves, s.ns).delete(name, policy); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "all of it is gone", func(h record.History) bool { return gone(h, append(all, uids(s.outside)...)...) })
	if went := went(ofOld(h.In(s.ns), "shelves.platform.example.org", "objects.kubernetes.m.crossplane.io",
		"providerconfigusages.kubernetes.m.crossplane.io", "configmaps")); !slices.Equal(plan, went) {
		t.Errorf("the plan deletes %v, and %v are gone", plan, went)
	}
	composite, made := []types.UID{s.composite.GetUID()}, slices.Concat(uids(s.managed), uids(s.labels))
	if policy == metav1.DeletePropagationForeground {
		inOrder(t, h, stage{"composed", record.Gone, made}, stage{"composite", record.Gone, composite})
	} else {
		inOrder(t, h, stage{"composite", record.Gone, composite}, stage{"managed resources", record.Gone, uids(s.managed)})
	}
}

//go:embed testdata/protection.yaml
var protectionManifest string

// replayed: Crossplane deletes what a Usage kept when its user goes, if somebody has tried to delete
// it before and the Usage says so. The plan of the user, and of what takes the user along, counts it.
func replayed(t *testing.T, p *platform) {
	ns := p.Namespace(t)
	maps, kept := read(t, p.Cluster, configMaps, ns), read(t, p.Cluster, protections, ns)
	objects, protection, _ := strings.Cut(protectionManifest, "# The Usages.\n")
	p.Apply(t, objects, "-n", ns)
	for dependent, owner := range map[string]string{"user": "root", "goes-too": "goes"} {
		o := maps.get(dependent)
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner,
			UID: maps.get(owner).GetUID()}})
		if _, err := maps.client.Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	p.Apply(t, protection, "-n", ns)
	users := []string{"replays", "does-not-replay", "not-tried", "one-of-two"}
	for _, name := range append(users, "two-of-two") {
		kept.until(name, "is ready", func(o *unstructured.Unstructured) bool {
			return condition(o, "Ready") && len(o.GetOwnerReferences()) == 1
		})
	}
	names := func(uids []types.UID) (all []string) {
		for _, o := range slices.Concat(maps.list(""), kept.list("")) {
			if slices.Contains(uids, o.GetUID()) {
				all = append(all, o.GetName())
			}
		}
		slices.Sort(all)
		return all
	}
	goes := slices.Sorted(slices.Values(append(users, "root", "user")))
	if got := names(planned(t, p.Cluster, "configmap/root", "-n", ns)); !slices.Equal(got, goes) {
		t.Errorf("before anybody tried to delete what is used, the plan deletes %q, want %q", got, goes)
	}
	for _, name := range []string{"goes", "stays-not-replayed", "stays-used-by-another"} {
		if err := maps.delete(name, metav1.DeletePropagationBackground); err == nil {
			t.Fatalf("%s, which is in use, was deleted", name)
		}
	}
	goes = slices.Sorted(slices.Values(append(goes, "goes", "goes-too")))
	plan := planned(t, p.Cluster, "configmap/root", "-n", ns)
	if got := names(plan); !slices.Equal(got, goes) {
		t.Errorf("the plan deletes %q, want %q", got, goes)
	}
	user := names(planned(t, p.Cluster, "configmap/user", "-n", ns))
	if want := slices.DeleteFunc(slices.Clone(goes), func(name string) bool { return name == "root" }); !slices.Equal(user,
		want) {
		t.Errorf("the plan of the user deletes %q, want %q", user, want)
	}

	r := record.Start(t, p.Config())
	if err := maps.delete("root", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "what is replayed is gone", func(h record.History) bool { return gone(h, plan...) })
	if went := went(h.In(ns)); !slices.Equal(plan, went) {
		t.Errorf("the plan deletes %v, and %v are gone", plan, went)
	}
}

// replayedInTheCluster: a ClusterUsage does for cluster-scoped objects what a Usage does in a namespace.
func replayedInTheCluster(t *testing.T, p *platform) {
	roles := read(t, p.Cluster, clusterRoles, "")
	p.Apply(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: used}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: user}
---
apiVersion: protection.crossplane.io/v1beta1
kind: ClusterUsage
metadata: {name: replays}
spec:
  of: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, resourceRef: {name: used}}
  by: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, resourceRef: {name: user}}
  replayDeletion: true
`)
	usage := read(t, p.Cluster, schema.GroupVersionResource{Group: "protection.crossplane.io", Version: "v1beta1",
		Resource: "clusterusages"}, "").until("replays", "is ready", func(o *unstructured.Unstructured) bool {
		return condition(o, "Ready") && len(o.GetOwnerReferences()) == 1
	})
	all := []types.UID{usage.GetUID(), roles.get("used").GetUID(), roles.get("user").GetUID()}
	slices.Sort(all)
	if err := roles.delete("used", metav1.DeletePropagationBackground); err == nil {
		t.Fatal("what is in use was deleted")
	}
	if plan := planned(t, p.Cluster, "clusterrole/user"); !slices.Equal(plan, all) {
		t.Errorf("the plan deletes %v, want %v", plan, all)
	}
	r := record.Start(t, p.Config())
	if err := roles.delete("user", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	r.Until(t, "what is replayed is gone", func(h record.History) bool { return gone(h, all...) })
}

// keptForASibling: a Usage keeps a managed resource of a composite until another one of it is gone,
// and goes then itself. So the composite is deleted with all of that, and kubectl gc does so. A Usage
// that nothing takes along keeps what it is of, and kubectl gc refuses to begin.
func keptForASibling(t *testing.T, p *platform) {
	s := newShelf(t, p)
	name := s.composite.GetName()
	protecting := read(t, p.Cluster, protections, s.ns)
	use := func(usage, by string) {
		t.Helper()
		p.Apply(t, fmt.Sprintf(`
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: {name: %s}
spec:
  of: {apiVersion: kubernetes.m.crossplane.io/v1alpha1, kind: Object, resourceRef: {name: %s-settings}}
  %s
`, usage, name, by), "-n", s.ns)
		protecting.until(usage, "is ready", func(o *unstructured.Unstructured) bool { return condition(o, "Ready") })
	}
	use("sibling", "by: {apiVersion: kubernetes.m.crossplane.io/v1alpha1, kind: Object, resourceRef: {name: "+name+"-access}}")
	use("nobody", "reason: none")
	args := []string{"shelves.platform.example.org/" + name, "-n", s.ns}
	remove := append([]string{"delete", "--yes", "--timeout=2m"}, args...)
	if a := plugin.Run(t, p.Cluster, remove...); a.Code != 2 || !strings.Contains(a.Stderr,
		"the server refuses to delete Object/"+name+"-settings: Usage "+s.ns+"/") {
		t.Errorf("with a Usage that stays: exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
	p.Kubectl(t, "delete", "usages.protection.crossplane.io", "nobody", "-n", s.ns)
	plan := planned(t, p.Cluster, args...)
	if all := slices.Sorted(slices.Values(append(s.all(), protecting.get("sibling").GetUID()))); !slices.Equal(plan, all) {
		t.Errorf("the plan deletes %v, and there are %v", plan, all)
	}
	r := record.Start(t, p.Config())
	if a := plugin.Run(t, p.Cluster, remove...); a.Code != 0 {
		t.Fatalf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
	if h := r.Settle(t).In(s.ns); !slices.Equal(went(h), plan) {
		t.Errorf("the plan deletes %v, and %v are gone", plan, went(h))
	}
}

// pausedManaged: a managed resource that is paused is not gone before the pause ends. The plan of its
// composite names it, and why then says so.
func pausedManaged(t *testing.T, p *platform) {
	s := newShelf(t, p)
	name, of := s.composite.GetName(), "objects.kubernetes.m.crossplane.io"
	paused := s.managed[0]
	p.Kubectl(t, "annotate", of, paused.GetName(), "-n", s.ns, "crossplane.io/paused=true")
	var plan v1alpha1.Plan
	if code := plugin.JSON(t, p.Cluster, &plan, "delete", "--dry-run=client", "shelves.platform.example.org/"+name, "-n",
		s.ns); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	// Crossplane itself is a process beside the cluster, of which nothing is found in it.
	idle := slices.DeleteFunc(plan.Idle, func(i v1alpha1.IdleActor) bool { return i.Obstacle == v1alpha1.ActorNotFound })
	if len(idle) != 1 || !idle[0].Paused || types.UID(idle[0].Object.UID) != paused.GetUID() {
		t.Errorf("the plan says that these wait for their actors: %+v, want %s, which is paused", idle, paused.GetName())
	}
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, shelves, s.ns).delete(name, metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "all but what is paused is gone", func(h record.History) bool {
		return gone(h, s.composite.GetUID(), s.managed[1].GetUID()) && began(h, paused.GetUID())
	})
	if gone(h, paused.GetUID()) {
		t.Errorf("a paused managed resource is gone: %v", h.About(paused.GetUID()))
	}
	if all := causes(t, p.Cluster, of+"/"+paused.GetName(), "-n", s.ns); len(all) != 1 ||
		!strings.Contains(strings.Join(all[0].Evidence, "\n"), `its annotation crossplane.io/paused is "true"`) {
		t.Errorf("why says %+v, want one cause, with what says that it is paused", all)
	}
	p.Kubectl(t, "annotate", of, paused.GetName(), "-n", s.ns, "crossplane.io/paused-")
	r.Until(t, "it is gone once the pause has ended", func(h record.History) bool { return gone(h, paused.GetUID()) })
}

// causes gives what why says of an object.
func causes(t *testing.T, c *testcluster.Cluster, args ...string) (all []v1alpha1.Cause) {
	t.Helper()
	var diagnosis v1alpha1.Diagnosis
	plugin.JSON(t, c, &diagnosis, append([]string{"why"}, args...)...)
	for _, stuck := range diagnosis.Stuck {
		all = append(all, stuck.Causes...)
	}
	return all
}

// missingSecret: a managed resource is not gone if the Secret of its ProviderConfig is missing. Why
// names it in the namespace in which the ProviderConfig says that it is, and not in the one of the
// managed resource, although the message of that says no namespace.
func missingSecret(t *testing.T, p *platform) {
	ns, secrets := p.Namespace(t), p.Namespace(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content, err := os.ReadFile(p.Kubeconfig())
	if err == nil {
		err = os.WriteFile(kubeconfig, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	create := func() { p.Kubectl(t, "create", "secret", "generic", "own", "-n", secrets, "--from-file="+kubeconfig) }
	create()
	p.Apply(t, fmt.Sprintf(`
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: own}
spec: {credentials: {source: Secret, secretRef: {namespace: %s, name: own, key: kubeconfig}}}
---
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: Object
metadata: {name: one}
spec:
  providerConfigRef: {kind: ProviderConfig, name: own}
  forProvider: {manifest: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: external, name: of-%s}}}
`, secrets, ns), "-n", ns)
	client := read(t, p.Cluster, namespaced, ns)
	client.until("one", "is ready", func(o *unstructured.Unstructured) bool { return condition(o, "Ready") })
	shelf{ns: ns}.age(t, p)
	p.Kubectl(t, "delete", "secret", "own", "-n", secrets)
	if err := client.delete("one", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	client.until("one", "says that its deletion fails", func(o *unstructured.Unstructured) bool {
		return reason(o, "Synced") == "ReconcileError"
	})
	all := slices.DeleteFunc(causes(t, p.Cluster, "objects.kubernetes.m.crossplane.io/one", "-n", ns),
		func(cause v1alpha1.Cause) bool { return cause.Code != "DependencyMissing" })
	if len(all) != 1 || all[0].Object.Kind != "Secret" || all[0].Object.Namespace != secrets {
		t.Errorf("why says that there lacks %+v, want the Secret %s/own", all, secrets)
	}
	create()
	client.gone("one")
}

// definitionOfNamespaced: Crossplane deletes no composites that are in namespaces with their
// CompositeResourceDefinition, and waits until somebody else has. The plan says so, and kubectl gc
// refuses to begin; with the composites it deletes all.
func definitionOfNamespaced(t *testing.T, p *platform) {
	s := newShelf(t, p)
	definition, composite := "compositeresourcedefinition/shelves.platform.example.org", s.composite.GetName()
	plan := planOf(t, p.Cluster, definition)
	if len(plan.Deleted) > 0 || len(plan.Stuck) != 1 || plan.Stuck[0].Reason != "LinkRefused" {
		t.Errorf("the plan deletes %+v and keeps %+v", plan.Deleted, plan.Stuck)
	}
	a := plugin.Run(t, p.Cluster, "delete", definition, "--yes", "--timeout=2m")
	if a.Code != 2 || !strings.Contains(a.Stderr, "it deletes no composite resources that are in namespaces") ||
		!strings.Contains(a.Stderr, "delete Shelf "+s.ns+"/"+composite+" first") {
		t.Errorf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
	r := record.Start(t, p.Config())
	definitions := read(t, p.Cluster, xrds, "")
	if err := definitions.delete("shelves.platform.example.org", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "Crossplane waits for the composite", func(ctx context.Context) (bool, error) {
		out, err := p.Try(ctx, "", "get", "events", "-A", "--field-selector=reason=TerminateComposite", "-o", "jsonpath={.items[*].message}")
		return strings.Contains(out, "waiting for defined composite resources to be deleted"), err
	})
	if h := r.Settle(t); began(h, s.composite.GetUID()) {
		t.Errorf("Crossplane deletes it: %v", h.About(s.composite.GetUID()))
	}
	p.Kubectl(t, "delete", "shelves.platform.example.org", composite, "-n", s.ns)
	definitions.gone("shelves.platform.example.org")
}
