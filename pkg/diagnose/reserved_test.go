package diagnose

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/workloads"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestResourceClaimReservedForPods: one that runs is the cause; of one that cannot be read nothing
// is said but that, and one that has ended uses nothing.
func TestResourceClaimReservedForPods(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, podOn(ns, "trainer", ns, ""))
	uid := c.Kubectl(t, "get", "pod", "trainer", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, fmt.Sprintf(
		"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: gpu, namespace: %s, finalizers: [%s]}\nspec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}\n", ns, workloads.ReservedFinalizer))
	fixture.Free(t, c, ns, "resourceclaim/gpu")
	c.Kubectl(t, "patch", "resourceclaim", "gpu", "-n", ns, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
		`{"status":{"allocation":{"devices":{"results":[{"request":"gpu","driver":"gpu.example.com","pool":"p","device":"d"}]}},"reservedFor":[{"resource":"pods","name":"trainer","uid":%q}]}}`, uid))
	deleted(t, c, "resourceclaim", "gpu", "-n", ns)
	of := subject{"resourceclaims.resource.k8s.io/gpu", ns}

	d := examine(t, c.Config(), Options{}, ns, of)
	wantCauses(t, d, map[string][]string{"ResourceClaim/gpu": {"InUse Pod/trainer"}})
	if want := "kubectl delete pods/trainer -n " + ns; last(d.Stuck[0].Causes[0]) != want {
		t.Errorf("the command is %q, want %q", last(d.Stuck[0].Causes[0]), want)
	}

	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/pods/trainer") },
		faultproxy.Status(403, metav1.StatusReasonForbidden, "pods is forbidden"))
	wantEvidence(t, examine(t, proxy.Config(), Options{}, ns, of).Stuck[0].Causes[0],
		"it is reserved for Pod trainer, which cannot be read")

	c.Kubectl(t, "patch", "pod", "trainer", "-n", ns, "--subresource=status", "--type=merge", "-p",
		`{"status":{"phase":"Succeeded"}}`)
	wantEvidence(t, examine(t, c.Config(), Options{}, ns, of).Stuck[0].Causes[0],
		"it is reserved for Pod trainer, which has ended")
}

// TestResourceClaimReservedForSomethingElse: what stands for pods, as a PodGroup does, has it as a pod
// has. Of a type that is not served nothing is known, and nobody is said to be about to act.
func TestResourceClaimReservedForSomethingElse(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "workers"))
	for claim, reserved := range map[string]string{
		"there": `{"apiGroup":"","resource":"configmaps","name":"workers","uid":"` + uidOf(t, c, ns, "configmap/workers") + `"}`,
		"gone":  `{"apiGroup":"","resource":"configmaps","name":"workers","uid":"1"}`,
		"other": `{"apiGroup":"scheduling.example.com","resource":"podgroups","name":"workers","uid":"1"}`,
	} {
		c.Apply(t, fmt.Sprintf(
			"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: %s, namespace: %s, finalizers: [%s]}\nspec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}\n", claim, ns, workloads.ReservedFinalizer))
		fixture.Free(t, c, ns, "resourceclaim/"+claim)
		c.Kubectl(t, "patch", "resourceclaim", claim, "-n", ns, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
			`{"status":{"allocation":{"devices":{"results":[{"request":"gpu","driver":"gpu.example.com","pool":"p","device":"d"}]}},"reservedFor":[%s]}}`, reserved))
		deleted(t, c, "resourceclaim", claim, "-n", ns)
	}
	d := examine(t, c.Config(), Options{}, ns)
	if got := stuckOf(t, d, "there").Causes[0]; got.Code != "InUse" || got.Object.Name != "workers" {
		t.Errorf("%s of %s, want InUse of workers", got.Code, got.Object.Name)
	}
	wantEvidence(t, stuckOf(t, d, "other").Causes[0], "it is reserved for podgroups workers, whose type is not served")
	wantEvidence(t, stuckOf(t, d, "gone").Causes[0], "it is reserved for configmaps workers, which no longer exists")
}
