package uninstall

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/operator"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// start starts a control plane with the controllers that operators need, installs bundles, and has
// the collector begin: it knows the types that are there then.
func start(t *testing.T, held bool, bundles ...bundle) []*installed {
	t.Helper()
	c := testcluster.Start(t, testcluster.Controllers("deployment-controller", "replicaset-controller",
		"namespace-controller"))
	operator.Kubelet(t, c)
	var all []*installed
	for _, b := range bundles {
		all = append(all, install(t, c, b, held))
	}
	c.StartControllers(t, testcluster.Collector)
	return all
}

// plan is what kubectl gc delete says that the deletion of a bundle does.
func (i *installed) plan(t *testing.T, more ...string) v1alpha1.Plan {
	t.Helper()
	args := append([]string{"delete", "-f", i.file, "--dry-run=client", "-o", "json", "--kubeconfig",
		i.cluster.Kubeconfig()}, more...)
	code, stdout, stderr := script.InProcess(t.Context(), "", args...)
	var plan v1alpha1.Plan
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil || code != 0 || !plan.Complete {
		t.Fatalf("planning %s: %v, exit code %d, complete %t\n%s%s", i.name, err, code, plan.Complete, stdout, stderr)
	}
	return plan
}

// ofTheServer are kinds that kube-apiserver makes and deletes itself, for types and Services.
var ofTheServer = []string{"APIService", "IPAddress"}

// objects says of all objects of a control plane but the server's own whether they are being
// deleted, by uid.
func objects(t *testing.T, c *testcluster.Cluster) map[types.UID]object {
	t.Helper()
	listed := fixture.List(t, c.Config(), cluster.ListOptions{})
	all := map[types.UID]object{}
	for i := range listed.Graph.Len() {
		id := graph.ID(i)
		ref := listed.Graph.Ref(id)
		if listed.Graph.Observed(id) && !slices.Contains(ofTheServer, ref.Kind) {
			all[types.UID(ref.UID)] = object{nameOf(ref.Kind, ref.Namespace, ref.Name), listed.Graph.State(id) == graph.Deleting}
		}
	}
	return all
}

// object is one of a control plane.
type object struct {
	name     string
	deleting bool
}

func nameOf(kind, namespace, name string) string {
	return strings.TrimSuffix(kind+" "+namespace, " ") + "/" + name
}

// names are those of objects, sorted.
func names(refs []v1alpha1.ObjectRef) []string {
	var all []string
	for _, r := range refs {
		all = append(all, nameOf(r.Kind, r.Namespace, r.Name))
	}
	slices.Sort(all)
	return all
}

// waitUntilGone waits until none of some objects exists, and waitUntilDeleting until all are being
// deleted.
func (i *installed) waitUntilGone(t *testing.T, refs []v1alpha1.ObjectRef) {
	t.Helper()
	i.waitUntil(t, "is gone", refs, func(o *metav1.PartialObjectMetadata) bool { return o == nil })
}

func (i *installed) waitUntilDeleting(t *testing.T, refs []v1alpha1.ObjectRef) {
	t.Helper()
	i.waitUntil(t, "is being deleted", refs,
		func(o *metav1.PartialObjectMetadata) bool { return o != nil && o.DeletionTimestamp != nil })
}

// waitUntil waits until each of some objects is as wanted; it is nil if it is gone.
func (i *installed) waitUntil(t *testing.T, what string, refs []v1alpha1.ObjectRef,
	wanted func(*metav1.PartialObjectMetadata) bool) {
	t.Helper()
	client, err := metadata.NewForConfig(i.cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range refs {
		version, err := schema.ParseGroupVersion(r.APIVersion)
		if err != nil {
			t.Fatal(err)
		}
		testcluster.Eventually(t, nameOf(r.Kind, r.Namespace, r.Name)+" "+what, func(ctx context.Context) (bool, error) {
			now, err := client.Resource(version.WithResource(r.Resource)).Namespace(r.Namespace).Get(ctx, r.Name,
				metav1.GetOptions{})
			if apierrors.IsNotFound(err) || err == nil && string(now.UID) != r.UID {
				now, err = nil, nil
			}
			return err == nil && wanted(now), err
		})
	}
}
