package facts

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/imitation"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/cluster.yaml
var clusterManifest string

func clusterType(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta1", Resource: resource}
}

func infrastructureType(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: imitation.Group, Version: "v1beta1", Resource: resource}
}

// fleet is a Cluster of Cluster API with a MachineDeployment of two Machines.
type fleet struct {
	namespace string
	cluster, infrastructure, deployment,
	sets, machines, machineInfrastructure []types.UID
}

// newFleet makes a fleet in a namespace of its own, and waits until all of it is there with its
// finalizers.
func newFleet(t *testing.T, c *testcluster.Cluster) fleet {
	t.Helper()
	f := fleet{namespace: c.Namespace(t)}
	c.Apply(t, strings.ReplaceAll(clusterManifest, "NAMESPACE", f.namespace), "-n", f.namespace)
	for _, part := range []struct {
		resource schema.GroupVersionResource
		count    int
		into     *[]types.UID
	}{
		{clusterType("clusters"), 1, &f.cluster},
		{infrastructureType("testclusters"), 1, &f.infrastructure},
		{clusterType("machinedeployments"), 1, &f.deployment},
		{clusterType("machinesets"), 1, &f.sets},
		{clusterType("machines"), 2, &f.machines},
		{infrastructureType("testmachines"), 2, &f.machineInfrastructure},
	} {
		client := read(t, c, part.resource, f.namespace)
		testcluster.Eventually(t, "there are all "+part.resource.Resource+", with finalizers and owners",
			func(context.Context) (bool, error) {
				found := client.list("")
				*part.into = uids(found)
				return len(found) == part.count && settled(found, part.resource.Resource != "clusters"), nil
			})
	}
	return f
}

// settled reports whether objects have finalizers and, if they should, owners.
func settled(all []unstructured.Unstructured, owned bool) bool {
	for _, o := range all {
		if len(o.GetFinalizers()) == 0 || owned && len(o.GetOwnerReferences()) == 0 {
			return false
		}
	}
	return true
}

func (f fleet) all() []types.UID {
	var all []types.UID
	for _, part := range [][]types.UID{f.cluster, f.infrastructure, f.deployment, f.sets, f.machines,
		f.machineInfrastructure} {
		all = append(all, part...)
	}
	return all
}

// TestClusterAPI tests what Cluster API does with a Cluster. The tests share what runs.
func TestClusterAPI(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	imitation.Install(t, c)
	beside.StartClusterAPI(t, c)
	learnTypes(t, c)
	t.Run("Background", func(t *testing.T) { clusterInTheBackground(t, c) })
	t.Run("Foreground", func(t *testing.T) { clusterInTheForeground(t, c) })
	t.Run("ProviderStopped", func(t *testing.T) { clusterWithoutProvider(t, c) })
}

// clusterInTheBackground: Cluster API deletes the workers first, from the MachineDeployment down to
// the TestMachines, and waits until they are gone. Then it deletes the TestCluster and waits again,
// and then the Cluster is gone. The collector deletes the TestMachineTemplate last.
func clusterInTheBackground(t *testing.T, c *testcluster.Cluster) {
	imitation.Start(t, c)
	f := newFleet(t, c)
	plan := planned(t, c, "clusters.cluster.x-k8s.io/prod", "-n", f.namespace)
	workersFirst(t, c, f)
	r := record.Start(t, c.Config())
	if err := read(t, c, clusterType("clusters"), f.namespace).delete("prod",
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "the cluster is gone", func(h record.History) bool { return gone(h, f.all()...) })
	inOrder(t, h,
		stage{"Cluster", record.Deleted, f.cluster}, stage{"MachineDeployment", record.Deleted, f.deployment},
		stage{"MachineSet", record.Deleted, f.sets},
		stage{"Machines", record.Deleted, f.machines})
	eachMachine(t, h, f)
	inOrder(t, h, stage{"Machines", record.Gone, f.machines}, stage{"MachineSet", record.Gone, f.sets},
		stage{"MachineDeployment", record.Gone, f.deployment}, stage{"TestCluster", record.Deleted, f.infrastructure},
		stage{"TestCluster", record.Gone, f.infrastructure}, stage{"Cluster", record.Gone, f.cluster})
	if went := went(h.In(f.namespace)); !slices.Equal(plan, went) {
		t.Errorf("the plan deletes %v, and %v are gone", plan, went)
	}
}

// eachMachine: a Machine is being deleted before its TestMachine is gone, and gone after it. The
// two have the same name, and so the same place in a list.
func eachMachine(t *testing.T, h record.History, f fleet) {
	t.Helper()
	for i := range f.machines {
		machine, infrastructure := f.machines[i:i+1], f.machineInfrastructure[i:i+1]
		inOrder(t, h, stage{"Machine", record.Deleted, machine}, stage{"TestMachine", record.Gone, infrastructure},
			stage{"Machine", record.Gone, machine})
	}
}

// workersFirst: the plan says that Cluster API deletes the workers, one level after the other, that
// it deletes the TestCluster when they are gone, and that the Cluster waits for all of them.
func workersFirst(t *testing.T, c *testcluster.Cluster, f fleet) {
	t.Helper()
	var plan v1alpha1.Plan
	if code := plugin.JSON(t, c, &plan, "delete", "--dry-run=client", "clusters.cluster.x-k8s.io/prod", "-n",
		f.namespace); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	wave := map[types.UID]int{}
	for _, a := range plan.Actions {
		if uid := types.UID(a.Object.UID); a.Verb == "delete" {
			wave[uid] = a.Wave
			if slices.Contains(slices.Concat(f.deployment, f.sets, f.machines), uid) &&
				(a.By != "controller" || !strings.HasPrefix(a.Because, "Cluster API deletes it, since ")) {
				t.Errorf("%s %s is deleted by %s: %s", a.Object.Kind, a.Object.Name, a.By, a.Because)
			}
		}
	}
	if order := []int{wave[f.cluster[0]], wave[f.deployment[0]], wave[f.sets[0]],
		wave[f.machines[0]]}; !slices.Equal(order, []int{1, 2, 3, 4}) {
		t.Errorf("the plan deletes Cluster, MachineDeployment, MachineSet and Machines in the waves %v", order)
	}
	if wave[f.infrastructure[0]] <= wave[f.machineInfrastructure[0]] {
		t.Errorf("the plan deletes the TestCluster in wave %d, and the TestMachines in wave %d", wave[f.infrastructure[0]],
			wave[f.machineInfrastructure[0]])
	}
	for _, b := range plan.Blockers {
		var until []types.UID
		for _, ref := range b.Until {
			until = append(until, types.UID(ref.UID))
		}
		if types.UID(b.Object.UID) == f.cluster[0] &&
			(!slices.Contains(until, f.deployment[0]) || !slices.Contains(until, f.infrastructure[0])) {
			t.Errorf("the Cluster waits until %+v are gone", b.Until)
		}
	}
}

// clusterInTheForeground: the collector deletes the TestCluster at once, as it does all dependents
// of the Cluster. So the infrastructure of the cluster is being deleted while the machines still
// exist, which Cluster API itself would have waited for.
func clusterInTheForeground(t *testing.T, c *testcluster.Cluster) {
	provider := imitation.Start(t, c)
	f := newFleet(t, c)
	provider.Stop() // so that no machine can be gone before
	plan := planned(t, c, "clusters.cluster.x-k8s.io/prod", "-n", f.namespace, "--cascade=foreground")
	r := record.Start(t, c.Config())
	if err := read(t, c, clusterType("clusters"), f.namespace).delete("prod",
		metav1.DeletePropagationForeground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "the infrastructure is being deleted", func(h record.History) bool {
		return began(h, f.infrastructure...) && began(h, f.machineInfrastructure...)
	})
	for _, uid := range append(f.machines, f.machineInfrastructure...) {
		if gone(h, uid) {
			t.Errorf("it is gone without the provider: %v", h.About(uid))
		}
	}
	imitation.Start(t, c)
	h = r.Until(t, "the cluster is gone", func(h record.History) bool { return gone(h, f.all()...) })
	eachMachine(t, h, f)
	inOrder(t, h, stage{"Machines", record.Gone, f.machines}, stage{"MachineSet", record.Gone, f.sets},
		stage{"MachineDeployment", record.Gone, f.deployment}, stage{"Cluster", record.Gone, f.cluster})
	inOrder(t, h, stage{"TestCluster", record.Gone, f.infrastructure}, stage{"Cluster", record.Gone, f.cluster})
	if went := went(h.In(f.namespace)); !slices.Equal(plan, went) {
		t.Errorf("the plan deletes %v, and %v are gone", plan, went)
	}
}

// clusterWithoutProvider: if the provider of the infrastructure is away the Cluster stays, with
// everything that leads to what stands for the machines.
func clusterWithoutProvider(t *testing.T, c *testcluster.Cluster) {
	provider := imitation.Start(t, c)
	f := newFleet(t, c)
	provider.Stop()
	r := record.Start(t, c.Config())
	if err := read(t, c, clusterType("clusters"), f.namespace).delete("prod",
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "only the provider is waited for",
		func(h record.History) bool { return began(h, f.machineInfrastructure...) })
	for _, uid := range f.all() {
		if gone(h, uid) {
			t.Errorf("it is gone without the provider: %v", h.About(uid))
		}
	}
	if began(h, f.infrastructure...) {
		t.Errorf("the infrastructure of the cluster is deleted before that of its machines is gone")
	}
	wantCauseIn(t, c, f.machineInfrastructure, "clusters.cluster.x-k8s.io/prod", "-n", f.namespace)
	imitation.Start(t, c)
	r.Until(t, "the cluster is gone", func(h record.History) bool { return gone(h, f.all()...) })
}
