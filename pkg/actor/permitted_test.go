package actor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// objectNamed is one of a type with a namespace and a name, as it would be read.
func objectNamed(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// runsAs makes a Deployment that runs as a ServiceAccount, with a number of pods that are ready.
func runsAs(t testing.TB, c *testcluster.Cluster, ns, name, account string, ready int, extra ...string) {
	t.Helper()
	manifest := strings.Replace(fixture.Deployment(ns, name, 1), "spec: {containers:",
		"spec: {serviceAccountName: "+account+", containers:", 1)
	if len(extra) > 0 {
		manifest = strings.Replace(manifest, "image: example.com/c", "image: example.com/c, "+extra[0], 1)
	}
	c.Apply(t, manifest)
	c.Kubectl(t, "patch", "deployment", name, "-n", ns, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"replicas":1,"readyReplicas":%d}}`, ready))
}

func saysOf(p Permissions) string {
	var all []string
	for _, o := range p.Observations() {
		all = append(all, o.Says)
	}
	return strings.Join(all, "\n")
}

// TestWhoMayRemoveAFinalizer: a ServiceAccount is named with what lets it and what runs as it,
// wherever it is; administrators are not. It runs by itself: its ClusterRoleBindings count in every
// namespace, and other tests count administrators.
func TestWhoMayRemoveAFinalizer(t *testing.T) {
	c := testcluster.Shared(t)
	infra, ns := c.Namespace(t), c.Namespace(t)
	runsAs(t, c, infra, "kustomize-controller", "kustomize-controller", 1)
	runsAs(t, c, infra, "admin", "admin", 1)
	c.Apply(t, fmt.Sprintf(`---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kustomize-%[1]s}
rules: [{apiGroups: [networking.k8s.io], resources: [networkpolicies], verbs: [get, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: kustomize-%[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kustomize-%[1]s}
subjects: [{kind: ServiceAccount, name: kustomize-controller, namespace: %[1]s}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: admin-%[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: admin, namespace: %[1]s}]
`, infra))
	t.Cleanup(func() {
		c.Kubectl(t, "delete", "clusterrolebinding", "kustomize-"+infra, "admin-"+infra)
		c.Kubectl(t, "delete", "clusterrole", "kustomize-"+infra)
	})
	p, ok := finderOf(t, c.Config(), fixture.Packs(t)).Permitted(t.Context(),
		objectNamed("networking.k8s.io/v1", "NetworkPolicy", ns, "it"))
	want := fmt.Sprintf(
		"ServiceAccount %[1]s/kustomize-controller may patch networkpolicies.networking.k8s.io (ClusterRoleBinding kustomize-%[1]s); Deployment %[1]s/kustomize-controller uses it, 1 of 1 ready", infra)
	if got := saysOf(p); !ok || got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if only := p.Only(); only == nil || only.GetName() != "kustomize-controller" {
		t.Errorf("the only one is %v", only)
	}
}

// TestWhoMayInANamespace: Roles and ClusterRoles bound in it count, those of another namespace and
// for other names do not; a group of a namespace, a user name of a ServiceAccount, a subresource
// and a pod without a workload are understood, and who may everything comes last.
func TestWhoMayInANamespace(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, other := c.Namespace(t), c.Namespace(t)
	role := func(in, name, rule string, subject string) string {
		return fmt.Sprintf(`---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: %[2]s, namespace: %[1]s}
rules: [{apiGroups: [discovery.k8s.io], %[3]s}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[2]s, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[2]s}
subjects: [%[4]s]
`, in, name, rule, subject)
	}
	account := func(name string) string {
		return fmt.Sprintf("{kind: ServiceAccount, name: %s, namespace: %s}", name, ns)
	}
	all := "resources: [endpointslices], verbs: ['*']"
	c.Apply(t, role(ns, "any", "resources: ['*'], verbs: [update]", account("any"))+
		role(ns, "named", all+", resourceNames: [it]", account("named"))+
		role(ns, "elsewhere", all+", resourceNames: [another]", account("elsewhere"))+
		role(ns, "reader", "resources: [endpointslices], verbs: [get, list, watch, delete]", account("reader"))+
		role(ns, "status", "resources: [endpointslices/status], verbs: [patch]", account("status"))+
		role(ns, "sub", "resources: ['*/finalizers'], verbs: [update]", account("sub"))+
		role(ns, "user", all, fmt.Sprintf(
			"{kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccount:%s:user'}", ns))+
		role(ns, "group", all, fmt.Sprintf(
			"{kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccounts:%s'}", other))+
		role(ns, "person", all, "{kind: User, apiGroup: rbac.authorization.k8s.io, name: dora}")+
		role(other, "there", all, account("there")))
	c.Kubectl(t, "create", "rolebinding", "owner", "-n", ns, "--clusterrole=cluster-admin",
		"--serviceaccount="+ns+":owner")
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: user, namespace: %[1]s}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: lone, namespace: %[1]s}\nspec: {serviceAccountName: user, containers: [{name: c, image: example.com/c}]}\n", ns))
	runsAs(t, c, ns, "named", "named", 0)
	p, _ := finderOf(t, c.Config(), fixture.Packs(t)).Permitted(t.Context(),
		objectNamed("discovery.k8s.io/v1", "EndpointSlice", ns, "it"))
	var got []string
	for _, a := range p.Accounts {
		got = append(got, fmt.Sprintf("%s %s %v %d", a.Account.Name, a.Verbs, a.Finalizers, len(a.Workloads)))
	}
	want := []string{"named [update patch] false 1", "user [update patch] false 1", "any [update] false 0",
		" [update patch] false 0", "sub [update] true 0"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || p.Everything != 1 || len(p.Unread) != 0 {
		t.Errorf("%q, %d may everything, %q unread; want %q", got, p.Everything, p.Unread, want)
	}
	text := saysOf(p)
	for _, clause := range []string{
		fmt.Sprintf("(RoleBinding named); Deployment %s/named uses it, 0 of 1 ready", ns),
		fmt.Sprintf("; Pod %s/lone uses it, not ready", ns),
		"every ServiceAccount of namespace " + other + " may update and patch endpointslices.discovery.k8s.io",
		fmt.Sprintf(
			"ServiceAccount %s/sub may update endpointslices.discovery.k8s.io/finalizers (RoleBinding sub); no workload was seen that uses it", ns),
	} {
		if !strings.Contains(text, clause) {
			t.Errorf("the evidence does not say %q: %s", clause, text)
		}
	}
	if p.Only() != nil {
		t.Errorf("two workloads may, and %s is the only one", p.Only().GetName())
	}
}

// TestWhoMayIsNotConcludedWithoutTheRightToList: a user who may not list bindings is told so, once,
// and no workload is singled out.
func TestWhoMayIsNotConcludedWithoutTheRightToList(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	runsAs(t, c, ns, "op", "op", 1)
	user := "limited-" + ns
	c.Kubectl(t, "create", "role", "op", "-n", ns, "--verb=patch", "--resource=configmaps")
	c.Kubectl(t, "create", "rolebinding", "op", "-n", ns, "--role=op", "--serviceaccount="+ns+":op")
	c.Kubectl(t, "create", "role", "see", "-n", ns, "--verb=list",
		"--resource=deployments.apps,statefulsets.apps,daemonsets.apps,roles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io")
	c.Kubectl(t, "create", "rolebinding", "see", "-n", ns, "--role=see", "--user="+user)
	p, _ := finderOf(t, c.As(user), fixture.Packs(t)).Permitted(t.Context(), objectNamed("v1", "ConfigMap", ns, "it"))
	text := saysOf(p)
	for _, clause := range []string{fmt.Sprintf("Deployment %s/op uses it, 1 of 1 ready", ns),
		"who may remove it is not fully known: you may not list clusterroles.rbac.authorization.k8s.io and clusterrolebindings.rbac.authorization.k8s.io"} {
		if !strings.Contains(text, clause) {
			t.Errorf("the evidence does not say %q: %s", clause, text)
		}
	}
	if p.Only() != nil || strings.Contains(text, "cannot list resource") {
		t.Errorf("only %v: %s", p.Only(), text)
	}
}

// TestNobodyMayRemoveAFinalizer: an operator that was uninstalled took its rights along.
func TestNobodyMayRemoveAFinalizer(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	p, _ := finderOf(t, c.Config(), fixture.Packs(t)).Permitted(t.Context(),
		objectNamed("scheduling.k8s.io/v1", "PriorityClass", "", "it"))
	if text := saysOf(p); !strings.HasPrefix(text,
		"only Kubernetes' own ServiceAccounts may update or patch priorityclasses.scheduling.k8s.io") {
		t.Errorf("the evidence is %q", text)
	}
}

// TestWhichOfSeveralMayBeIt: of several workloads that may, that one stands out which is called like
// the finalizer, or which alone may write the status.
func TestWhichOfSeveralMayBeIt(t *testing.T) {
	works := func(name, image string, status bool) Permitted {
		w := objectNamed("apps/v1", "Deployment", "infra", name)
		w.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "c", "image": image}}}}}
		return Permitted{Status: status, Workloads: []*unstructured.Unstructured{w}}
	}
	name := func(w *unstructured.Unstructured) string {
		if w == nil {
			return ""
		}
		return w.GetName()
	}
	kserve, registry := works("kserve-controller-manager", "kserve/kserve-controller:v0.15.0", true),
		works("model-registry-inference-service-controller", "ghcr.io/kubeflow/model-registry/controller:v0.3.0", false)
	for _, test := range []struct {
		finalizer, like, controls string
		may                       []Permitted
	}{
		{"modelregistry.kubeflow.org/finalizer", "model-registry-inference-service-controller", "kserve-controller-manager",
			[]Permitted{kserve, registry}},
		{"inferenceservice.finalizers", "", "kserve-controller-manager", []Permitted{kserve, registry}},
		{"billing.acme.org/export", "bill-sync", "", []Permitted{kserve, works("bill-sync", "acme/exporter:1", true)}},
		{"acme.org/finalizer", "", "", []Permitted{works("a", "acme/a:1", false), works("b", "acme/b:1", false)}},
		{"services.kubernetes.io/protection", "", "", []Permitted{works("kubernetes-services", "x:1", false), kserve,
			works("b", "y:1", true)}},
	} {
		p := Permissions{Accounts: test.may}
		if like, controls := name(p.Like(test.finalizer, "InferenceService")), name(p.Controls()); like != test.like ||
			controls != test.controls {
			t.Errorf("%s: called like it is %q, and the status may write %q; want %q and %q", test.finalizer, like, controls,
				test.like, test.controls)
		}
	}
}

// TestWhoIsSetToWatchOthers: of several workloads that may, those of other shards and namespaces are
// left out, and told, as long as one remains.
func TestWhoIsSetToWatchOthers(t *testing.T) {
	works := func(container string) Permitted {
		return Permitted{Workloads: []*unstructured.Unstructured{started(t, "operators", "{image: acme/op, "+container+"}")}}
	}
	one, two, other := works("args: [--watch-label-selector=shard=1]"), works("args: [--watch-label-selector=shard=2]"),
		works("env: [{name: WATCH_NAMESPACE, value: a}]")
	backup := Permitted{Workloads: []*unstructured.Unstructured{started(t, "operators", "{image: acme/backup}")}}
	for name, test := range map[string]struct {
		may             []Permitted
		left, elsewhere int
	}{
		"its shard and another":         {[]Permitted{one, two}, 1, 1},
		"all are others'":               {[]Permitted{one, other}, 2, 2},
		"nothing is set":                {[]Permitted{works("args: []"), two}, 2, 0},
		"another program":               {[]Permitted{other, backup}, 2, 1},
		"its shard and another program": {[]Permitted{one, backup, two}, 2, 1},
		"one of three":                  {[]Permitted{other, two, one}, 1, 2},
	} {
		p := Permissions{Accounts: test.may}.Watching(shop)
		if left := len(p.Workloads()); left != test.left || len(p.Elsewhere) != test.elsewhere {
			t.Errorf("%s: %d left, %d elsewhere; want %d and %d", name, left, len(p.Elsewhere), test.left, test.elsewhere)
		}
	}
}

// TestNoLeaseIsOfAnObjectOfKubernetes: a Lease named after a project is looked for only where the object's
// API group may be of that.
func TestNoLeaseIsOfAnObjectOfKubernetes(t *testing.T) {
	if seen := (&Finder{}).leaders(t.Context(), objectNamed("v1", "ConfigMap", "shop", "app"), "acme.example/f"); len(seen) > 0 {
		t.Errorf("%v", seen)
	}
}
