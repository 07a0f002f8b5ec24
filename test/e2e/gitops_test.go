package e2e

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// gitops is an object of a program that applies manifests, and what it has applied.
type gitops struct {
	root, finalizer, manifest string
	// acts is what the program does once the root is being deleted, as kubectl does it.
	acts [][]string
	// until is what the root waits for by the plan.
	until []string
	// keeps says that it removes its finalizer and leaves what it was to delete.
	keeps bool
}

const kustomization = `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: shop, finalizers: [finalizers.fluxcd.io]}, spec: {prune: true},
  status: {inventory: {entries: [{id: NS_web__ConfigMap, v: v1}, {id: NS_kept__ConfigMap, v: v1}, {id: NS_moved__ConfigMap, v: v1}]}}}`

// TestDeleteOfAnApplicationAndAKustomization beside a program that does what Argo CD and Flux are
// documented to do: the plan names what then goes and what is kept, and the command returns when
// all of it is gone. Of a program that does less it says so, and so does a wait for what was to go.
func TestDeleteOfAnApplicationAndAKustomization(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "gitops", testcluster.NoControllers())
	fixture.Define(t, c, fixture.Kind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"},
		fixture.Kind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"})
	c.StartControllers(t, testcluster.Collector)
	for name, g := range map[string]gitops{
		"Argo CD": {
			root: "application.argoproj.io/shop", finalizer: "resources-finalizer.argocd.argoproj.io",
			manifest: `{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: shop, finalizers: [resources-finalizer.argocd.argoproj.io]}, spec: {destination: {server: 'https://kubernetes.default.svc'}, syncPolicy: {syncOptions: [Delete=false]}},
  status: {resources: [{version: v1, kind: ConfigMap, namespace: NS, name: web}, {version: v1, kind: ConfigMap, namespace: NS, name: kept}, {version: v1, kind: ConfigMap, namespace: NS, name: moved}]}}`,
			acts:  [][]string{{"delete", "configmap/web", "--cascade=foreground", "--timeout=1m"}},
			until: []string{"web"},
		},
		"Flux": {
			root: "kustomization.kustomize.toolkit.fluxcd.io/shop", finalizer: "finalizers.fluxcd.io",
			manifest: kustomization,
			acts:     [][]string{{"delete", "configmap/web", "--cascade=background", "--wait=false"}},
		},
		"Flux, which leaves it": {
			root: "kustomization.kustomize.toolkit.fluxcd.io/shop", finalizer: "finalizers.fluxcd.io", manifest: kustomization,
			keeps: true,
		},
	} {
		t.Run(name, func(t *testing.T) { g.test(t, c) })
	}
	t.Run("the account of a Kustomization", func(t *testing.T) { accountOfAKustomization(t, c) })
	t.Run("what a source no longer has", func(t *testing.T) { prunes(t, c) })
	t.Run("public incidents", func(t *testing.T) { rebuilt(t, c) })
	t.Run("a guard", func(t *testing.T) { guards(t, c) })
}

// accountOfAKustomization: a plan says what stays because the ServiceAccount is gone as which the
// Kustomization's program deletes, or may not, or that this cannot be found out; and why says it of
// one that is being deleted.
func accountOfAKustomization(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	as := "--as=system:serviceaccount:" + ns + ":looker"
	c.Apply(t, strings.ReplaceAll(`{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {kustomize.toolkit.fluxcd.io/name: shop, kustomize.toolkit.fluxcd.io/namespace: NS}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: key, labels: {kustomize.toolkit.fluxcd.io/name: shop, kustomize.toolkit.fluxcd.io/namespace: NS}}}
---
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: shop, finalizers: [finalizers.fluxcd.io]}, spec: {prune: true, serviceAccountName: deployer},
  status: {inventory: {entries: [{id: NS_web__ConfigMap, v: v1}, {id: NS_key__Secret, v: v1}]}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: deployer},
  rules: [{apiGroups: [''], resources: [configmaps, secrets], verbs: [get]}, {apiGroups: [''], resources: [configmaps], resourceNames: [web], verbs: [delete]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: deployer}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer}, subjects: [{kind: ServiceAccount, name: deployer}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: looker}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch, delete]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: looker}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: looker}, subjects: [{kind: ServiceAccount, name: looker}]}
`, "NS", ns), "-n", ns)
	plans := func(root string, deleted []string, says string, args ...string) {
		t.Helper()
		got := run(t, append([]string{"delete", root, "-n", ns, "--dry-run=client", "--kubeconfig", c.Kubeconfig(), "-o",
			"json"}, args...)...)
		var plan v1alpha1.Plan
		if err := json.Unmarshal([]byte(got.stdout), &plan); err != nil {
			t.Fatalf("%v\n%s%s", err, got.stdout, got.stderr)
		}
		if names := namesOf(plan.Deleted); !slices.Equal(names, deleted) || !strings.Contains(got.stdout, says) {
			t.Errorf("%s %s: the plan deletes %v, want %v, and says %q\n%s", root, args, names, deleted, says, got.stdout)
		}
	}
	const root = "kustomization.kustomize.toolkit.fluxcd.io/shop"
	plans(root, []string{"shop"}, `controller does not delete it with Kustomization `+ns+
		`/shop: ServiceAccount deployer, as which it acts, does not exist"`)
	c.Apply(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: deployer}}`, "-n", ns)
	plans(root, []string{"web"}, `does not let it go while Secret `+ns+
		`/key is there: ServiceAccount deployer, as which it acts, may not delete secrets"`)
	plans(root, []string{"key", "shop", "web"}, `perhaps Flux kustomize-controller does not delete ConfigMap `+ns+
		`/web, Secret `+ns+`/key with Kustomization `+ns+`/shop: whether ServiceAccount deployer`, as)

	refused := run(t, "delete", root, "-n", ns, "--yes", "--kubeconfig", c.Kubeconfig())
	if refused.code != 2 || !strings.Contains(refused.stderr, "the deletion would not complete: Flux kustomize-controller does "+
		"not let Kustomization "+ns+"/shop go while Secret "+ns+"/key is there") ||
		!strings.Contains(refused.stderr, "give the ServiceAccount the right") {
		t.Errorf("exit code %d\n%s", refused.code, refused.stderr)
	}
	c.Kubectl(t, "delete", root, "-n", ns, "--wait=false")
	why := run(t, "why", root, "-n", ns, "--kubeconfig", c.Kubeconfig())
	for _, says := range []string{"may not delete secrets", "kubectl auth can-i delete secrets --as=system:serviceaccount:" +
		ns + ":deployer -n " + ns} {
		if !strings.Contains(why.stdout, says) {
			t.Errorf("why does not say %q\n%s%s", says, why.stdout, why.stderr)
		}
	}
	c.Kubectl(t, "patch", root, "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}

func (g gitops) test(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, strings.ReplaceAll(`{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {kustomize.toolkit.fluxcd.io/name: shop, kustomize.toolkit.fluxcd.io/namespace: NS}, annotations: {argocd.argoproj.io/sync-options: Delete=true}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, labels: {kustomize.toolkit.fluxcd.io/name: shop, kustomize.toolkit.fluxcd.io/namespace: NS}, annotations: {helm.sh/resource-policy: keep, kustomize.toolkit.fluxcd.io/prune: disabled}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: moved, labels: {kustomize.toolkit.fluxcd.io/name: other, kustomize.toolkit.fluxcd.io/namespace: NS}}}
---
`+g.manifest, "NS", ns), "-n", ns)
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: below, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: web, uid: `+uidOf(t, c, ns, "web")+`, blockOwnerDeletion: true}]}}`, "-n", ns)

	planned := run(t, "delete", g.root, "-n", ns, "--dry-run=client", "-o", "json", "--kubeconfig", c.Kubeconfig())
	var plan v1alpha1.Plan
	if err := json.Unmarshal([]byte(planned.stdout), &plan); err != nil {
		t.Fatalf("%v\n%s%s", err, planned.stdout, planned.stderr)
	}
	var kept []v1alpha1.ObjectRef
	for _, s := range plan.Survivors {
		kept = append(kept, s.Object)
	}
	if names := namesOf(plan.Deleted); !slices.Equal(names, []string{"below", "shop", "web"}) ||
		!slices.Equal(namesOf(kept), []string{"kept", "moved"}) {
		t.Errorf("the plan deletes %v and keeps %+v", names, plan.Survivors)
	}
	if until := namesOf(plan.Blockers[0].Until); !slices.Equal(until, g.until) {
		t.Errorf("by the plan the root waits until %v are gone, want %v", until, g.until)
	}

	deleted := make(chan ran, 1)
	go func() {
		deleted <- run(t, "delete", g.root, "-n", ns, "--yes", "--timeout=2m", "-o", "json", "--kubeconfig", c.Kubeconfig())
	}()
	c.Kubectl(t, "wait", "--for=jsonpath={.metadata.deletionTimestamp}", g.root, "-n", ns, "--timeout=1m")
	var waits *process
	if g.keeps {
		waits = waiting(t, c, "waiting until 2 objects are deleted: ConfigMap/below, ConfigMap/web\n", "configmap/web", "-n", ns)
	}
	for _, args := range g.acts {
		c.Kubectl(t, append(args, "-n", ns)...)
	}
	c.Kubectl(t, "patch", g.root, "-n", ns, "--type=json", "-p",
		`[{"op":"test","path":"/metadata/finalizers/0","value":"`+g.finalizer+
			`"},{"op":"remove","path":"/metadata/finalizers/0"}]`)
	if g.keeps {
		const says = "ConfigMap/web was kept: Kustomization/shop, which was to delete it, is gone\n"
		got := <-deleted
		var result v1alpha1.Result
		if err := json.Unmarshal([]byte(got.stdout), &result); err != nil || got.code != 2 ||
			!strings.HasSuffix(got.stderr, says) || len(result.Remaining) != 2 {
			t.Errorf("exit code %d, %v\n%s%s", got.code, err, got.stdout, got.stderr)
		}
		wantEnd(t, waits, 2)
		if !strings.HasSuffix(waits.stderr.String(), says) {
			t.Errorf("the wait ends with %s", &waits.stderr)
		}
		return
	}
	if got := <-deleted; got.code != 0 {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if left := strings.Fields(c.Kubectl(t, "get", "configmaps", "-n", ns, "-o", "name")); !slices.Equal(left,
		[]string{"configmap/kept", "configmap/moved"}) {
		t.Errorf("%v are left when the command returns", left)
	}
}

// namesOf are the names of objects, sorted.
func namesOf(refs []v1alpha1.ObjectRef) []string {
	var names []string
	for _, ref := range refs {
		names = append(names, ref.Name)
	}
	slices.Sort(names)
	return names
}

// prunes: of what a source no longer has, a plan keeps what the program keeps that prunes, and says
// why; and the deletion deletes the rest, with the program's policy.
func prunes(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: shop}, spec: {prune: true}}\n---\n"+
		"{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: archive}, spec: {prune: false}}", "-n", ns)
	flux := "kustomize.toolkit.fluxcd.io/namespace: " + ns + ", kustomize.toolkit.fluxcd.io/name: "
	if c.Kubectl(t, "get", "namespace", "argocd", "--ignore-not-found", "-o", "name") == "" {
		c.Kubectl(t, "create", "namespace", "argocd")
	}
	for name, policy := range map[string]string{"auto": "{automated: {prune: true}}", "manual": "{syncOptions: [CreateNamespace=true]}",
		"orphans": "{automated: {prune: true}, syncOptions: [PrunePropagationPolicy=orphan]}",
		"unset":   "{automated: {}}", "halted": "{automated: {prune: true, enabled: false}}",
		"asks": "{automated: {prune: true}, syncOptions: [Prune=confirm]}", "never": "{automated: {prune: true}, syncOptions: [Prune=false]}"} {
		c.Apply(t, "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: "+name+"}, spec: {syncPolicy: "+policy+"}}", "-n", "argocd")
	}
	owner := c.Kubectl(t, "get", "namespace", "default", "-o", "jsonpath={.metadata.uid}")
	const tracked = "argocd.argoproj.io/tracking-id: 'shop:x', argocd.argoproj.io/sync-options: "
	for by, test := range map[string]struct {
		policy string
		// objects are the metadata of ConfigMaps by their names, and kept says which stay, and why;
		// waits says what has to happen before some go.
		objects, kept, waits map[string]string
	}{
		"argocd": {"Foreground", map[string]string{
			"goes": "annotations: {argocd.argoproj.io/tracking-id: 'shop:x'}", "labelled": "labels: {app.kubernetes.io/instance: shop}",
			"forapp": "annotations: {" + tracked + "Delete=false}", "kept": "annotations: {" + tracked + "'Replace=true,Prune=false'}",
			"hook": "annotations: {argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/tracking-id: 'shop:x'}", "other": "labels: {a: b}",
			"skip":  "annotations: {argocd.argoproj.io/hook: Skip, helm.sh/hook: pre-install, argocd.argoproj.io/tracking-id: 'shop:x'}",
			"chart": "annotations: {helm.sh/hook: pre-install, argocd.argoproj.io/tracking-id: 'shop:x'}",
			"owned": "annotations: {argocd.argoproj.io/tracking-id: 'auto:x'}, ownerReferences: [{apiVersion: v1, kind: Namespace, name: default, uid: " + owner + "}]",
			"auto":  "annotations: {argocd.argoproj.io/tracking-id: 'auto:x'}", "manual": "annotations: {argocd.argoproj.io/tracking-id: 'argocd_manual:x'}",
			"unset": "annotations: {argocd.argoproj.io/tracking-id: 'unset:x'}", "halted": "annotations: {argocd.argoproj.io/tracking-id: 'halted:x'}",
			"orphans": "annotations: {argocd.argoproj.io/tracking-id: 'orphans:x'}",
			"extra":   "annotations: {argocd.argoproj.io/tracking-id: 'auto:x', argocd.argoproj.io/compare-options: 'Other,IgnoreExtraneous'}",
			"confirm": "annotations: {" + tracked + "Prune=confirm}", "asks": "annotations: {argocd.argoproj.io/tracking-id: 'asks:x'}",
			"never": "annotations: {argocd.argoproj.io/tracking-id: 'never:x'}", "asked": "annotations: {argocd.argoproj.io/tracking-id: 'asks:x', argocd.argoproj.io/sync-options: Prune=true}",
		}, map[string]string{
			"kept":  "Argo CD keeps it: annotation argocd.argoproj.io/sync-options has Prune=false",
			"owned": "Argo CD keeps it: metadata.ownerReferences is set",
			"hook":  "Argo CD keeps it: annotation argocd.argoproj.io/hook is set and annotation argocd.argoproj.io/hook is not Skip",
			"chart": "Argo CD keeps it: annotation helm.sh/hook is set and annotation helm.sh/hook is not crd-install and annotation argocd.argoproj.io/hook is not Skip",
			"other": "Argo CD does not prune it: annotation argocd.argoproj.io/tracking-id is not set, and label app.kubernetes.io/instance is not set",
		}, map[string]string{
			"manual":  "somebody syncs the Application with pruning: spec.syncPolicy.automated.prune is not true of Application/manual",
			"unset":   "somebody syncs the Application with pruning: spec.syncPolicy.automated.prune is not true of Application/unset",
			"halted":  "somebody syncs the Application with pruning: spec.syncPolicy.automated.prune is true and spec.syncPolicy.automated.enabled is false of Application/halted",
			"extra":   "the Application is out of sync for something else, or somebody syncs it: annotation argocd.argoproj.io/compare-options has IgnoreExtraneous",
			"confirm": "somebody confirms it, with the annotation argocd.argoproj.io/deletion-approved of the Application: annotation argocd.argoproj.io/sync-options has Prune=confirm",
			"asks":    "somebody confirms it, with the annotation argocd.argoproj.io/deletion-approved of the Application: spec.syncPolicy.syncOptions has Prune=confirm of Application/asks",
			"never":   "somebody removes this sync option, if its version of Argo CD knows it: spec.syncPolicy.syncOptions has Prune=false of Application/never",
		}},
		"flux": {"Background", map[string]string{
			"goes": "labels: {" + flux + "shop}", "unset": "labels: {" + flux + "archive}", "absent": "labels: {" + flux + "gone}",
			"kept":  "annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}, labels: {" + flux + "shop}",
			"chart": "annotations: {helm.sh/resource-policy: keep}, labels: {helm.toolkit.fluxcd.io/name: shop}",
			"case":  "annotations: {kustomize.toolkit.fluxcd.io/prune: DISABLED}, labels: {" + flux + "shop}",
			"ssa":   "labels: {kustomize.toolkit.fluxcd.io/ssa: IGNORE, " + flux + "shop}",
			"plain": "annotations: {helm.sh/resource-policy: keep}, labels: {" + flux + "shop}", "other": "labels: {a: b}",
		}, map[string]string{
			"unset":  "Flux does not prune it: spec.prune is false or is not set of Kustomization/archive",
			"absent": "Flux does not prune it: Kustomization/gone in namespace " + ns + " does not exist",
			"kept":   "Flux keeps it: annotation kustomize.toolkit.fluxcd.io/prune is disabled",
			"chart":  "Flux keeps it: label helm.toolkit.fluxcd.io/name is set and annotation helm.sh/resource-policy is keep",
			"other":  "Flux does not prune it: label kustomize.toolkit.fluxcd.io/name is not set, and label helm.toolkit.fluxcd.io/name is not set",
			"case":   "Flux keeps it: annotation kustomize.toolkit.fluxcd.io/prune is disabled",
			"ssa":    "Flux keeps it: label kustomize.toolkit.fluxcd.io/ssa is Ignore",
		}, nil},
		"helm": {"Background", map[string]string{
			"goes": "annotations: {meta.helm.sh/release-name: shop}",
			"kept": "annotations: {meta.helm.sh/release-name: shop, helm.sh/resource-policy: keep}", "hook": "annotations: {helm.sh/hook: pre-install}",
		}, map[string]string{
			"kept": "Helm keeps it: annotation helm.sh/resource-policy is keep",
			"hook": "Helm keeps it: annotation helm.sh/hook is set",
		}, nil},
		"kubectl": {"Background", map[string]string{
			"goes": "annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}", "set": "labels: {applyset.kubernetes.io/part-of: x}",
			"other": "labels: {a: b}",
		}, map[string]string{
			"other": "kubectl apply --prune does not prune it: annotation kubectl.kubernetes.io/last-applied-configuration is not set, and label applyset.kubernetes.io/part-of is not set",
		}, nil},
	} {
		t.Run(by, func(t *testing.T) {
			ns := c.Namespace(t)
			var old, goes []string
			for name, metadata := range test.objects {
				old = append(old, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", "+metadata+"}}")
				if test.kept[name] == "" {
					goes = append(goes, "configmap/"+name)
				}
			}
			slices.Sort(goes)
			c.Apply(t, strings.Join(old, "\n---\n"), "-n", ns)
			args := []string{"delete", "--kubeconfig", c.Kubeconfig(), "-n", ns, "-f", side(t, strings.Join(old, "\n---\n")),
				"--unless-in", side(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}"), "--as-pruned-by", by}
			planned := run(t, append(args, "-o", "json")...)
			var p v1alpha1.Plan
			if err := json.Unmarshal([]byte(planned.stdout), &p); err != nil || planned.code != 0 {
				t.Fatalf("code %d, %v: %s", planned.code, err, planned.stderr)
			}
			kept := map[string]string{}
			for _, s := range p.Survivors {
				if kept[s.Object.Name] = s.Because; s.Reason != "NotPruned" {
					t.Errorf("%s: reason %s", s.Object.Name, s.Reason)
				}
			}
			for _, a := range p.Actions {
				want := test.policy
				if a.Object.Name == "orphans" {
					want = "Orphan" // as its Application says
				}
				if a.Verb == "delete" && a.Policy != want {
					t.Errorf("%s is deleted with the policy %s, want %s", a.Object.Name, a.Policy, want)
				}
			}
			typed := run(t, append(args, "--cascade=background", "-o", "jsonpath={.actions[*].policy}")...)
			if typed.code != 0 || strings.Trim(typed.stdout, "Background ") != "" || typed.stdout == "" {
				t.Errorf("with --cascade=background: code %d, policies %q", typed.code, typed.stdout)
			}
			waits := map[string]string{}
			for _, f := range p.Findings {
				if says, is := strings.CutPrefix(f.Message, f.Objects[0].Kind+" "+ns+"/"+f.Objects[0].Name+": Argo CD prunes it only once "); is &&
					f.Code == "PruneWaits" {
					waits[f.Objects[0].Name] = says
				}
			}
			if diff := cmp.Diff(test.waits, waits, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.kept, kept); diff != "" || p.Policy != test.policy || len(p.Gaps) > 0 || len(p.Deleted) != len(goes) {
				t.Errorf("policy %s, %d deleted, gaps %v; kept (-want +got):\n%s", p.Policy, len(p.Deleted), p.Gaps, diff)
			}
			done := run(t, append(args, "--yes", "-o", "name")...)
			deleted := strings.Fields(done.stdout)
			slices.Sort(deleted)
			left := strings.Fields(c.Kubectl(t, "get", "configmaps", "-n", ns, "-o", "name"))
			if done.code != 0 || !slices.Equal(deleted, goes) || len(left) != len(test.kept) {
				t.Errorf("code %d, deleted %q, want %q; left %q; %s", done.code, deleted, goes, left, done.stderr)
			}
		})
	}
}

// guards: a policy denies the deletion of an object and of all that would take it along, an Application
// among it, and of nothing else; an annotation lifts it, and what was allowed comes to its end.
func guards(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	configMap := func(name string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}}"
	}
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: top, annotations: {argocd.argoproj.io/tracking-id: '"+ns+"_shop:/ConfigMap:"+ns+"/top'}}}\n---\n"+configMap("other")+"\n---\n"+configMap("web")+"\n---\n"+configMap("shared")+"\n---\n"+
		`{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: shop, finalizers: [resources-finalizer.argocd.argoproj.io]}, spec: {destination: {server: 'https://kubernetes.default.svc'}},
  status: {resources: [{version: v1, kind: ConfigMap, namespace: `+ns+`, name: top}]}}`, "-n", ns)
	uid := func(name string) string {
		return c.Kubectl(t, "get", name, "-n", ns, "-o", "jsonpath={.metadata.uid}")
	}
	owned := func(name string, owners ...string) {
		var refs []string
		for _, owner := range owners {
			refs = append(refs, `{"apiVersion":"v1","kind":"ConfigMap","name":"`+owner+`","uid":"`+uid("configmap/"+owner)+`"}`)
		}
		c.Kubectl(t, "patch", "configmap", name, "-n", ns, "--type=merge", "-p",
			`{"metadata":{"ownerReferences":[`+strings.Join(refs, ",")+`]}}`)
	}
	owned("web", "top")
	owned("shared", "web", "other")
	protect := func(args ...string) ran {
		t.Helper()
		return run(t, append([]string{"protect", "--kubeconfig", c.Kubeconfig(), "-n", ns}, args...)...)
	}
	if got := protect("configmap/shared"); got.code != 0 || strings.Contains(got.stdout, uid("configmap/web")) ||
		strings.Contains(got.stdout, uid("configmap/other")) ||
		!strings.Contains(got.stderr, "Warning: ConfigMap "+ns+"/shared is deleted when the last of its owners is: ") {
		t.Errorf("an object with two owners: code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	policy := protect("configmap/web", "--except-user", "keeper")
	for _, above := range []string{"configmap/web", "configmap/top", "application.argoproj.io/shop", "namespace/" + ns} {
		if policy.code != 0 || !strings.Contains(policy.stdout, uid(above)) {
			t.Errorf("%s is no guard: code %d: %s%s", above, policy.code, policy.stdout, policy.stderr)
		}
	}
	if got := protect("configmap/web", "--check"); got.code != 2 || !strings.Contains(got.stdout, "allowed (must be denied)") {
		t.Errorf("nothing is applied: code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	c.Apply(t, policy.stdout)
	var holds ran
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s%s", holds.stdout, holds.stderr)
		}
	})
	testcluster.Eventually(t, "the policy holds", func(context.Context) (bool, error) {
		holds = protect("configmap/web", "--check")
		return holds.code == 0, nil
	})
	denied := func(args ...string) {
		t.Helper()
		out, err := c.Try(t.Context(), "", append(args, "-n", ns)...)
		if err == nil || !strings.Contains(err.Error()+out, "which is protected") {
			t.Errorf("%q: %s, %v", args, out, err)
		}
	}
	denied("delete", "configmap", "--all", "--wait=false")
	denied("delete", "namespace", ns, "--wait=false")
	denied("delete", "application.argoproj.io/shop", "--cascade=orphan", "--wait=false")
	denied("delete", "crd", "applications.argoproj.io", "--wait=false", "--dry-run=server")
	c.Kubectl(t, "get", "configmap", "web", "top", "-n", ns)
	c.Kubectl(t, "delete", "configmap", "top", "--cascade=orphan", "--dry-run=server", "-n", ns)
	c.Kubectl(t, "delete", "configmap", "web", "--dry-run=server", "-n", ns, "--as=keeper", "--as-group=system:masters")

	// What is being deleted already cannot be kept.
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: going, finalizers: [example.com/hold]}}", "-n", ns)
	c.Kubectl(t, "delete", "configmap", "going", "-n", ns, "--wait=false")
	if got := protect("configmap/going"); got.code != 2 || !strings.Contains(got.stderr, "going is already being deleted") {
		t.Errorf("an object that is being deleted: code %d: %s", got.code, got.stderr)
	}
	c.Kubectl(t, "patch", "configmap", "going", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)

	// The annotation lifts it, the collector deletes what follows, and a new object of the name is free.
	c.Kubectl(t, "annotate", "configmap", "top", "gc.kubectl.dev/allow-deletion=yes", "-n", ns)
	c.Kubectl(t, "delete", "configmap", "top", "-n", ns, "--cascade=background")
	c.Kubectl(t, "wait", "--for=delete", "configmap/web", "-n", ns, "--timeout=1m")
	c.Apply(t, configMap("web"), "-n", ns)
	c.Kubectl(t, "delete", "configmap", "web", "-n", ns)
	c.Kubectl(t, "delete", "validatingadmissionpolicies,validatingadmissionpolicybindings", "--all")
	testcluster.Eventually(t, "the policy is gone", func(ctx context.Context) (bool, error) {
		_, err := c.Try(ctx, "", "delete", "namespace", ns, "--dry-run=server")
		return err == nil, nil
	})
}
