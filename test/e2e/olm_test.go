package e2e

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	//go:embed testdata/olm.yaml
	olmManifest string
	//go:embed testdata/olm_owned.yaml
	olmOwned string
)

// installed is an operator that OLM has installed in a namespace, for the objects of another one.
type installed struct {
	*testcluster.Cluster
	namespace, target string
}

// TestDeleteOfAnOperatorOfOLM beside a program that does what OLM does by its source: what the plan
// deletes is what is gone, of the Subscription and of the ClusterServiceVersion.
func TestDeleteOfAnOperatorOfOLM(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "olm", testcluster.NoControllers())
	kinds := []fixture.Kind{{Group: "operators.coreos.com", Kind: "OperatorGroup"},
		{Group: "olm.example.org", Kind: "Widget"}}
	for _, kind := range []string{"Subscription", "ClusterServiceVersion", "InstallPlan"} {
		kinds = append(kinds, fixture.Kind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: kind})
	}
	fixture.Define(t, c, kinds...)
	c.StartControllers(t, testcluster.Collector)
	for name, cleanup := range map[string]bool{"without cleanup": false, "with cleanup": true} {
		t.Run(name, func(t *testing.T) { install(t, c, cleanup).test(t) })
	}
}

// install makes the objects. Its cleanup is the ClusterServiceVersion's spec.cleanup.enabled, of
// which OLM takes no notice.
func install(t *testing.T, c *testcluster.Cluster, cleanup bool) installed {
	t.Helper()
	i := installed{c, c.Namespace(t), c.Namespace(t)}
	fill := strings.NewReplacer("OWNED",
		"{olm.owner: widget.v1, olm.owner.namespace: "+i.namespace+", olm.owner.kind: ClusterServiceVersion}",
		"NS", i.namespace, "TARGET", i.target, "CLEANUP", fmt.Sprint(cleanup))
	c.Apply(t, fill.Replace(olmManifest))
	c.Apply(t, regexp.MustCompile(`OWNER\((\S+) (\S+) (\S+)\)`).ReplaceAllStringFunc(fill.Replace(olmOwned),
		func(call string) string {
			of := strings.Fields(strings.NewReplacer("OWNER(", "", ")", "").Replace(call))
			uid := c.Kubectl(t, "get", of[1], of[2], "-n", of[0], "-o", "jsonpath={.metadata.uid}")
			return fmt.Sprintf(
				"{apiVersion: operators.coreos.com/v1alpha1, kind: %s, name: %s, uid: %s, blockOwnerDeletion: false, controller: false}", of[1], of[2], uid)
		}))
	return i
}

func (i installed) test(t *testing.T) {
	const subscription = "subscription.operators.coreos.com/widget"
	withSubscription := []string{"InstallPlan/install-x7k2p", "Subscription/widget"}
	withVersion := []string{
		"ClusterRole/widget.v1-NS", "ClusterRoleBinding/widget.v1-NS", "ClusterServiceVersion/widget.v1",
		"ClusterServiceVersion/widget.v1 in TARGET",
		"Deployment/widget", "Role/widget.v1", "Role/widget.v1 in TARGET", "RoleBinding/widget.v1", "ServiceAccount/widget",
		"ValidatingWebhookConfiguration/widget-NS",
	}
	i.tree(t, subscription, slices.Concat(withSubscription, withVersion))
	if back := i.plan(t, "deployment/widget").Recreated; len(back) != 1 || back[0].Program != "OLM" ||
		back[0].Owner.Name != "widget.v1" || back[0].Owner.Namespace != i.namespace {
		t.Errorf("by the plan of the Deployment these come back: %+v, want it to be created again by OLM", back)
	}
	plan := i.deleted(t, subscription, func() {}, withSubscription)
	if len(plan.Survivors) != 1 ||
		plan.Survivors[0].Because != "OLM does not delete it with Subscription "+i.namespace+"/widget" {
		t.Errorf("the plan of the Subscription keeps %+v, want the ClusterServiceVersion", plan.Survivors)
	}
	plan = i.deleted(t, "clusterserviceversion.operators.coreos.com/widget.v1", func() { i.cleanUp(t) }, withVersion)
	if len(plan.Blockers) != 1 || len(plan.Blockers[0].Until) != 2 {
		t.Errorf("by the plan of the ClusterServiceVersion these wait: %+v, want it to wait for the ClusterRole and its binding", plan.Blockers)
	}
}

// tree tests which objects the tree of one has.
func (i installed) tree(t *testing.T, object string, want []string) {
	t.Helper()
	shown := run(t, "tree", object, "-n", i.namespace, "-o", "json", "--kubeconfig", i.Kubeconfig())
	var tree v1alpha1.Tree
	if err := json.Unmarshal([]byte(shown.stdout), &tree); err != nil {
		t.Fatalf("%v\n%s%s", err, shown.stdout, shown.stderr)
	}
	var names []string
	for _, node := range tree.Nodes {
		names = append(names, i.name(node.Ref.Kind, node.Ref.Namespace, node.Ref.Name))
	}
	slices.Sort(names)
	if slices.Sort(want); !slices.Equal(names, want) || !tree.Complete {
		t.Errorf("the tree of %s has %q, want %q (complete %t)", object, names, want, tree.Complete)
	}
}

// cleanUp does what OLM does for a ClusterServiceVersion that is being deleted: processFinalizer
// and, when it is gone, handleClusterServiceVersionDeletion.
func (i installed) cleanUp(t *testing.T) {
	csv, owned := "clusterserviceversion.operators.coreos.com/widget.v1",
		"olm.owner=widget.v1,olm.owner.namespace="+i.namespace+",olm.owner.kind=ClusterServiceVersion"
	for _, args := range [][]string{
		{"wait", "--for=jsonpath={.metadata.deletionTimestamp}", csv, "-n", i.namespace, "--timeout=1m"},
		{"delete", "clusterrolebindings,clusterroles,mutatingwebhookconfigurations,validatingwebhookconfigurations",
			"-l", owned},
		{"patch", csv, "-n", i.namespace, "--type=json", "-p", `[{"op":"remove","path":"/metadata/finalizers"}]`},
		{"wait", "--for=delete", csv, "-n", i.namespace, "--timeout=1m"},
		{"delete", csv, "-n", i.target},
	} {
		i.Kubectl(t, args...)
	}
}

// deleted tests the deletion of an object beside a program: want is gone when the command returns,
// and is what the plan deletes. It returns the plan.
func (i installed) deleted(t *testing.T, object string, program func(), want []string) v1alpha1.Plan {
	t.Helper()
	before, plan := i.objects(t), i.plan(t, object)
	var names []string
	for _, ref := range plan.Deleted {
		names = append(names, before[ref.UID])
	}
	if slices.Sort(names); !slices.Equal(names, want) || len(plan.Recreated) > 0 {
		t.Errorf("the plan of %s deletes %q, want %q; these come back: %+v", object, names, want, plan.Recreated)
	}

	done := make(chan ran, 1)
	go func() {
		done <- run(t, "delete", object, "-n", i.namespace, "--yes", "--timeout=2m", "--kubeconfig", i.Kubeconfig())
	}()
	program()
	if got := <-done; got.code != 0 {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	after := i.objects(t)
	var gone []string
	for uid, name := range before {
		if _, is := after[uid]; !is {
			gone = append(gone, name)
		}
	}
	if slices.Sort(gone); !slices.Equal(gone, want) {
		t.Errorf("after the deletion of %s these are gone: %q, want %q", object, gone, want)
	}
	return plan
}

func (i installed) plan(t *testing.T, object string) v1alpha1.Plan {
	t.Helper()
	planned := run(t, "delete", object, "-n", i.namespace, "--dry-run=client", "-o", "json", "--kubeconfig",
		i.Kubeconfig())
	var plan v1alpha1.Plan
	if err := json.Unmarshal([]byte(planned.stdout), &plan); err != nil || !plan.Complete {
		t.Fatalf("planning %s: %v, complete %t\n%s%s", object, err, plan.Complete, planned.stdout, planned.stderr)
	}
	return plan
}

// objects are the names of all objects of a cluster, by uid.
func (i installed) objects(t *testing.T) map[string]string {
	t.Helper()
	listed := fixture.List(t, i.Config(), cluster.ListOptions{})
	names := map[string]string{}
	for id := range listed.Graph.Len() {
		ref := listed.Graph.Ref(graph.ID(id))
		names[ref.UID] = i.name(ref.Kind, ref.Namespace, ref.Name)
	}
	return names
}

func (i installed) name(kind, namespace, name string) string {
	name = kind + "/" + strings.ReplaceAll(name, i.namespace, "NS")
	if namespace == i.target {
		name += " in TARGET"
	}
	return name
}
