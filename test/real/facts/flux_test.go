package facts

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

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

//go:embed testdata/flux.yaml
var fluxObjects string

var kustomizations = schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1",
	Resource: "kustomizations"}

// shopped is a Kustomization, in a namespace of its own, that has applied the objects of flux.yaml.
type shopped struct {
	name, spec string
	// account are commands about the ServiceAccount that it acts as, once all is applied.
	account []string
	// gone are the objects that are gone in the end, by their names.
	gone []string
	// stays is what the plan says of the Kustomization if that is never gone.
	stays string

	namespace string
	planned   []types.UID
}

const suspends = ", suspend: true"

// TestFlux tests what the kustomize-controller of Flux does with the objects of a Kustomization that
// is deleted, by its settings, the marks of the objects, and the rights of the ServiceAccount that
// it acts as; and that it makes one again that is deleted alone. The plans say so.
func TestFlux(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	beside.StartFlux(t, c)
	learnTypes(t, c)
	t.Run("what a source no longer has", func(t *testing.T) { fluxPrunes(t, c) })
	source := beside.FluxSource(t, "shop", map[string]string{"shop/objects.yaml": fluxObjects})
	const asDeployer = "prune: true, serviceAccountName: deployer"
	all := []*shopped{
		{name: "prune", spec: "prune: true", gone: []string{"shop", "web", "web"}},
		{name: "no prune", spec: "prune: false", gone: []string{"shop"}},
		{name: "Delete", spec: "prune: false, deletionPolicy: Delete", gone: []string{"shop", "web", "web"}},
		{name: "Orphan", spec: "prune: true, deletionPolicy: Orphan", gone: []string{"shop"}},
		{name: "WaitForTermination", spec: "prune: false, deletionPolicy: WaitForTermination",
			gone: []string{"shop", "web", "web"}},
		{name: "suspended", spec: "prune: true" + suspends, gone: []string{"shop"}},
		{name: "account", spec: asDeployer, gone: []string{"shop", "web", "web"}},
		{name: "no account", spec: asDeployer, account: []string{"delete", "serviceaccount", "deployer"},
			gone: []string{"shop"}},
		{name: "account without rights", spec: asDeployer, gone: []string{"web"}, stays: "LinkRefused",
			account: []string{"patch", "role", "deployer", "--type=json",
				"-p", `[{"op": "remove", "path": "/rules/1"}]`}},
	}
	for _, k := range all {
		k.apply(t, c, source)
	}
	comesBack(t, c, all[0].namespace)
	for _, k := range all {
		k.mark(t, c)
		k.plan(t, c)
	}
	r := record.Start(t, c.Config())
	for _, k := range all {
		if err := read(t, c, kustomizations, k.namespace).delete("shop", metav1.DeletePropagationBackground); err != nil {
			t.Fatal(err)
		}
	}
	h := r.Until(t, "all of the plans is gone", func(h record.History) bool {
		return !slices.ContainsFunc(all, func(k *shopped) bool { return !gone(h.In(k.namespace), k.planned...) })
	})
	for _, k := range all {
		t.Run(k.name, func(t *testing.T) { k.test(t, c, h) })
	}
}

// apply makes the Kustomization, and waits until it has applied its objects.
func (k *shopped) apply(t *testing.T, c *testcluster.Cluster, source string) {
	t.Helper()
	k.namespace = c.Namespace(t)
	spec, _ := strings.CutSuffix(k.spec, suspends)
	c.Apply(t, source+fmt.Sprintf(`---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: deployer}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: deployer}
rules:
- {apiGroups: [""], resources: [configmaps, services], verbs: [get, list, watch, create, patch]}
- {apiGroups: [""], resources: [services], verbs: [delete]}
- {apiGroups: [""], resources: [configmaps], verbs: [delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: deployer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer}
subjects: [{kind: ServiceAccount, name: deployer}]
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop}
spec: {interval: 1h, path: ./shop, sourceRef: {kind: GitRepository, name: shop}, targetNamespace: %s, %s}
`, k.namespace, spec), "-n", k.namespace)
	read(t, c, kustomizations, k.namespace).until("shop", "is ready", func(o *unstructured.Unstructured) bool {
		return condition(o, "Ready")
	})
}

// mark marks some of the objects: the controller would not apply what is marked before.
func (k *shopped) mark(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	const group = "kustomize.toolkit.fluxcd.io/"
	c.Kubectl(t, "annotate", "configmap", "ignored", group+"ssa=Ignore", "-n", k.namespace)
	c.Kubectl(t, "label", "--overwrite", "configmap", "moved", group+"name=other", "-n", k.namespace)
	if strings.HasSuffix(k.spec, suspends) {
		c.Kubectl(t, "patch", "kustomization", "shop", "--type=merge", "-p", `{"spec":{"suspend":true}}`, "-n", k.namespace)
	}
	if k.account != nil {
		c.Kubectl(t, append(k.account, "-n", k.namespace)...)
	}
}

// comesBack tests that an object that is deleted alone is made again with the next reconciliation.
func comesBack(t *testing.T, c *testcluster.Cluster, ns string) {
	t.Helper()
	plan := planOf(t, c, "configmap/web", "-n", ns)
	if len(plan.Recreated) != 1 || plan.Recreated[0].Owner.Kind != "Kustomization" ||
		plan.Recreated[0].Program != "Flux kustomize-controller" {
		t.Errorf("the plan says that these come back: %+v", plan.Recreated)
	}
	before := read(t, c, configMaps, ns).get("web").GetUID()
	c.Kubectl(t, "delete", "configmap", "web", "-n", ns)
	c.Kubectl(t, "annotate", "kustomization", "shop", "reconcile.fluxcd.io/requestedAt=now", "-n", ns)
	read(t, c, configMaps, ns).madeAgain("web", before)
}

// plan notes what the plan says of the Kustomization's deletion.
func (k *shopped) plan(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	var plan v1alpha1.Plan
	if code := plugin.JSON(t, c, &plan, "delete", "--dry-run=client", "kustomization/shop", "-n", k.namespace); code != 0 ||
		!plan.Complete {
		t.Errorf("%s: exit code %d, complete %v", k.name, code, plan.Complete)
	}
	for _, ref := range plan.Deleted {
		k.planned = append(k.planned, types.UID(ref.UID))
	}
	slices.Sort(k.planned)
	stays := ""
	for _, s := range plan.Stuck {
		stays += s.Reason
	}
	if stays != k.stays {
		t.Errorf("%s: the plan says %q of what is stuck: %+v", k.name, stays, plan.Stuck)
	}
}

func (k *shopped) test(t *testing.T, c *testcluster.Cluster, h record.History) {
	if k.stays != "" {
		testcluster.Eventually(t, "the controller could not prune", func(ctx context.Context) (bool, error) {
			out, err := c.Try(ctx, "", "get", "events", "-n", k.namespace, "-o", "jsonpath={.items[*].message}")
			return err == nil && strings.Contains(out, "pruning for deleted resource failed"), nil
		})
		var diagnosis v1alpha1.Diagnosis
		plugin.JSON(t, c, &diagnosis, "why", "kustomization/shop", "-n", k.namespace)
		if len(diagnosis.Stuck) != 1 || len(diagnosis.Stuck[0].Causes) != 1 ||
			diagnosis.Stuck[0].Causes[0].Code != "ActorForbidden" {
			t.Errorf("why says %+v", diagnosis.Stuck)
		}
	}
	var names []string
	for _, e := range h.In(k.namespace).Kinds(record.Gone) {
		if e.Resource != "endpointslices.discovery.k8s.io" && e.Resource != "endpoints" {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	if went := went(h.In(k.namespace)); !slices.Equal(k.planned, went) || !slices.Equal(names, k.gone) {
		t.Errorf("the plan deletes %v, and %v are gone: %v, want %v", k.planned, went, names, k.gone)
	}
}
