package diagnose

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestServiceRangeWithAddresses: those that only the range contains keep it, and of a list that
// fails is said that it is not known.
func TestServiceRangeWithAddresses(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	cidr := func(name, of string) string {
		return fmt.Sprintf(
			"---\napiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: %s, finalizers: [%s]}\nspec: {cidrs: [%s]}\n", name, actor.RangeFinalizer, of)
	}
	c.Apply(t, cidr(ns, "10.201.0.0/28"))
	c.Apply(t, fmt.Sprintf(
		"apiVersion: networking.k8s.io/v1\nkind: IPAddress\nmetadata: {name: 10.201.0.4, labels: {ipaddress.kubernetes.io/ip-family: IPv4, ipaddress.kubernetes.io/managed-by: ipallocator.k8s.io}}\nspec: {parentRef: {resource: services, namespace: %s, name: web}}\n", ns))
	t.Cleanup(func() { c.Kubectl(t, "delete", "ipaddress", "10.201.0.4", "--ignore-not-found") })
	fixture.Free(t, c, "", "servicecidr/"+ns)
	deleted(t, c, "servicecidr", ns)
	of := subject{"servicecidrs.networking.k8s.io/" + ns, ""}

	cause := examine(t, c.Config(), Options{}, "", of).Stuck[0].Causes[0]
	if cause.Code != string(core.InUse) {
		t.Errorf("the cause is %s, want InUse", cause.Code)
	}
	wantEvidence(t, cause, "Service "+ns+"/web has IPAddress 10.201.0.4, which is in no other ServiceCIDR")

	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/ipaddresses") },
		faultproxy.Status(403, metav1.StatusReasonForbidden, "ipaddresses is forbidden"))
	cause = examine(t, proxy.Config(), Options{}, "", of).Stuck[0].Causes[0]
	if cause.Code == string(core.InUse) {
		t.Error("what cannot be listed is said to be in use")
	}
	wantEvidence(t, cause, "whether addresses in it are in use is not known")

	c.Apply(t, cidr(ns+"-larger", "10.201.0.0/24"))
	fixture.Free(t, c, "", "servicecidr/"+ns+"-larger")
	cause = examine(t, c.Config(), Options{}, "", of).Stuck[0].Causes[0]
	if cause.Code == string(core.InUse) {
		t.Error("another range contains the address")
	}
	wantEvidence(t, cause, "no IPAddress is in it alone")
}
