package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// change is what a source has before and after: ConfigMaps by their names, each with its annotations,
// and whole manifests. Deletes are those that are gone then.
type change struct {
	before, after map[string]string
	deletes       []string
}

// changed keeps one object and one that gets another version of its API, drops one that owns another
// and one that is marked to be kept, and has others take the place of one by a name with a hash, of one
// by another name, and of one by another kind.
func changed(keep string) change {
	const (
		scaled = "{apiVersion: autoscaling/%s, kind: HorizontalPodAutoscaler, metadata: {name: scaled}, " +
			"spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}}}"
		secret = "{apiVersion: v1, kind: Secret, metadata: {name: %s}}"
	)
	return change{
		map[string]string{"stays": "", "goes": "", "marked": keep, "hashed-1": "", "kind": "",
			"scaled": fmt.Sprintf(scaled, "v1"), "named-1": fmt.Sprintf(secret, "named-1")},
		map[string]string{"stays": "", "hashed-2": "", "scaled": fmt.Sprintf(scaled, "v2"),
			"named-2": fmt.Sprintf(secret, "named-2"), "kind": fmt.Sprintf(secret, "kind")},
		[]string{"below", "goes", "hashed-1", "kind", "named-1"}}
}

func manifests(objects map[string]string) string {
	var all []string
	for name, annotations := range objects {
		if strings.HasPrefix(annotations, "{") {
			all = append(all, annotations)
			continue
		}
		all = append(all, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, annotations: {%s}}}", name, annotations))
	}
	slices.Sort(all)
	return strings.Join(all, "\n---\n")
}

// written returns a file of manifests.
func written(t *testing.T, name string, objects map[string]string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(manifests(objects)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// pruned makes a dependent of what goes, plans the change, has a program make it, and compares: the plan
// deletes what the program and the collector delete, and keeps what is kept.
func pruned(t *testing.T, c *testcluster.Cluster, ns, by string, ch change, makeIt func()) {
	t.Helper()
	uid := c.Kubectl(t, "get", "configmap", "goes", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: below, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: goes, uid: "+
		uid+"}]}}", "-n", ns)
	var plan v1alpha1.Plan
	if code := plugin.JSON(t, c, &plan, "delete", "-f", written(t, "old.yaml", ch.before), "--unless-in",
		written(t, "new.yaml", ch.after),
		"--as-pruned-by", by, "-n", ns); code != 0 || !plan.Complete {
		t.Fatalf("exit code %d, complete %t", code, plan.Complete)
	}
	var planned []types.UID
	var names []string
	for _, ref := range plan.Deleted {
		planned, names = append(planned, types.UID(ref.UID)), append(names, ref.Name)
	}
	slices.Sort(planned)
	slices.Sort(names)
	kept := func(name string) bool {
		return slices.ContainsFunc(plan.Survivors, func(s v1alpha1.Survivor) bool { return s.Object.Name == name })
	}
	if !slices.Equal(names, ch.deletes) || !kept("marked") || kept("below") == slices.Contains(ch.deletes, "below") {
		t.Errorf("the plan deletes %q and keeps %+v", names, plan.Survivors)
	}
	r := record.Start(t, c.Config())
	makeIt()
	h := r.Until(t, "all of the plan is gone", func(h record.History) bool { return gone(h.In(ns), planned...) })
	if went := went(h.In(ns)); !slices.Equal(went, planned) {
		t.Errorf("%v are gone, and planned were %v", went, planned)
	}
	c.Kubectl(t, "get", "configmap/marked", "configmap/stays", "configmap/hashed-2", "hpa/scaled", "secret/named-2",
		"secret/kind", "-n", ns)
}

// fluxPrunes: a Kustomization whose source changes prunes what the plan of the change says.
func fluxPrunes(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	ch := changed("kustomize.toolkit.fluxcd.io/prune: disabled")
	serve := func(objects map[string]string) {
		t.Helper()
		c.Apply(t, beside.FluxSource(t, "shop", map[string]string{"shop/objects.yaml": manifests(objects)}), "-n", ns)
	}
	serve(ch.before)
	c.Apply(t, fmt.Sprintf(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop}
spec: {interval: 1h, path: ./shop, prune: true, sourceRef: {kind: GitRepository, name: shop}, targetNamespace: %s}
`, ns), "-n", ns)
	shop := read(t, c, kustomizations, ns)
	shop.until("shop", "is ready", func(o *unstructured.Unstructured) bool { return condition(o, "Ready") })
	pruned(t, c, ns, "flux", ch, func() {
		serve(ch.after)
		c.Kubectl(t, "annotate", "kustomization", "shop", "reconcile.fluxcd.io/requestedAt=changed", "-n", ns)
		shop.until("shop", "has the change", func(o *unstructured.Unstructured) bool {
			at, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt")
			return at == "changed" && condition(o, "Ready")
		})
	})
}

// helmPrunes: an upgrade deletes what the plan of the change says.
func helmPrunes(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	ch := changed("helm.sh/resource-policy: keep")
	helm := func(command string, objects map[string]string) {
		t.Helper()
		chart := t.TempDir()
		if err := os.Mkdir(filepath.Join(chart, "templates"), 0o750); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"Chart.yaml": "{apiVersion: v2, name: shop, version: 1.0.0}",
			"templates/all.yaml": manifests(objects)} {
			if err := os.WriteFile(filepath.Join(chart, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := beside.Helm(t, c, command, "shop", chart, "--namespace", ns); err != nil {
			t.Fatal(err)
		}
	}
	helm("install", ch.before)
	pruned(t, c, ns, "helm", ch, func() { helm("upgrade", ch.after) })
}

// argoPrunes: an Application that prunes by itself deletes what the plan of the change says, and one
// that does not leaves it, as the plan says as well.
func argoPrunes(t *testing.T, c *testcluster.Cluster, sources string) {
	t.Run("by itself", func(t *testing.T) {
		a := argoSource(t, c, sources, "{automated: {prune: true}}")
		pruned(t, c, a.namespace, "argocd", a.change, func() { a.changed(t, c) })
	})
	t.Run("with the policy Orphan", func(t *testing.T) {
		a := argoSource(t, c, sources, "{automated: {prune: true}, syncOptions: [PrunePropagationPolicy=orphan]}")
		a.change.deletes = a.change.deletes[1:]
		pruned(t, c, a.namespace, "argocd", a.change, func() { a.changed(t, c) })
	})
	t.Run("once somebody syncs it", func(t *testing.T) {
		a := argoSource(t, c, sources, synced)
		a.changed(t, c)
		var plan v1alpha1.Plan
		if code := plugin.JSON(t, c, &plan, "delete", "-f", written(t, "old.yaml", a.change.before), "--unless-in",
			written(t, "new.yaml", a.change.after), "--as-pruned-by", "argocd", "-n", a.namespace); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		var waits []string
		for _, f := range plan.Findings {
			if f.Code == "PruneWaits" {
				for _, o := range f.Objects {
					waits = append(waits, o.Name)
				}
			}
		}
		if slices.Sort(waits); !slices.Equal(waits, a.change.deletes[1:]) {
			t.Errorf("the plan says that these wait: %q", waits)
		}
		c.Kubectl(t, "get", "configmap", "goes", "marked", "hashed-1", "hashed-2", "-n", a.namespace)
	})
}

// argoApp is an Application that has applied the objects before a change.
type argoApp struct {
	namespace, source string
	change            change
}

func argoSource(t *testing.T, c *testcluster.Cluster, sources, policy string) argoApp {
	t.Helper()
	ns := c.Namespace(t)
	a := argoApp{ns, filepath.Join(sources, ns), changed("argocd.argoproj.io/sync-options: Prune=false")}
	a.serve(t, a.change.before)
	c.Apply(t, fmt.Sprintf(`
{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: %[1]s, namespace: argocd}, spec: {sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}]}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd}
spec:
  project: %[1]s
  source: {repoURL: 'https://example.com/x.git', path: %[1]s, targetRevision: HEAD}
  destination: {server: 'https://kubernetes.default.svc', namespace: %[1]s}
  syncPolicy: %[2]s
`, ns, policy))
	a.applied(t, c, "")
	return a
}

func (a argoApp) serve(t *testing.T, objects map[string]string) {
	t.Helper()
	if err := os.WriteFile(a.source, []byte(manifests(objects)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// changed makes the change, and waits until Argo CD has applied it.
func (a argoApp) changed(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	before := a.applied(t, c, "")
	a.serve(t, a.change.after)
	c.Kubectl(t, "annotate", "application.argoproj.io/"+a.namespace, "-n", "argocd", "argocd.argoproj.io/refresh=hard")
	a.applied(t, c, before)
}

// applied waits until Argo CD has applied another revision than one, and returns that.
func (a argoApp) applied(t *testing.T, c *testcluster.Cluster, other string) (revision string) {
	t.Helper()
	read(t, c, applications, "argocd").until(a.namespace, "is synced", func(o *unstructured.Unstructured) bool {
		phase, _, _ := unstructured.NestedString(o.Object, "status", "operationState", "phase")
		revision, _, _ = unstructured.NestedString(o.Object, "status", "operationState", "syncResult", "revision")
		return phase == "Succeeded" && revision != other
	})
	return revision
}
