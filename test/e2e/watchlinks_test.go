package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const claimAndComposite = `apiVersion: watch.example.org/v1
kind: Database
metadata: {name: db, namespace: %[1]s, finalizers: [finalizer.apiextensions.crossplane.io]}
spec: {resourceRef: {apiVersion: watch.example.org/v1, kind: XDatabase, name: x-%[1]s}}
---
apiVersion: watch.example.org/v1
kind: XDatabase
metadata: {name: x-%[1]s, finalizers: [composite.apiextensions.crossplane.io]}
spec: {claimRef: {apiVersion: watch.example.org/v1, kind: Database, namespace: %[1]s, name: db}}
`

// claim is a claim in a namespace of its own, with its composite, which owns a ConfigMap in another
// namespace. No program reconciles them: the test does.
type claim struct {
	*testcluster.Cluster
	namespace, far, composite string
}

func newClaim(t *testing.T) claim {
	t.Helper()
	c := testcluster.Another(t, "claims", testcluster.NoControllers())
	fixture.Define(t, c, fixture.Kind{Group: "watch.example.org", Kind: "Database", Category: "claim"},
		fixture.Kind{Group: "watch.example.org", Kind: "XDatabase", Cluster: true, Category: "composite"})
	ns := c.Namespace(t)
	k := claim{c, ns, c.Namespace(t), "x-" + ns}
	c.Apply(t, fmt.Sprintf(claimAndComposite, ns))
	k.compose(t, "settings")
	return k
}

// compose creates a ConfigMap that the composite owns.
func (c claim) compose(t *testing.T, name string) {
	t.Helper()
	uid := strings.TrimSpace(c.Kubectl(t, "get", "xdatabase", c.composite, "-o", "jsonpath={.metadata.uid}"))
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata:
  name: %s
  namespace: %s
  ownerReferences: [{apiVersion: watch.example.org/v1, kind: XDatabase, name: %s, uid: %s, controller: true, blockOwnerDeletion: true}]
`, name, c.far, c.composite, uid))
}

func (c claim) watch(t *testing.T) *watched {
	t.Helper()
	return watch(t.Context(), t, "database/db", "-n", c.namespace, "--kubeconfig", c.Kubeconfig())
}

// remove deletes an object and removes its finalizers, as its controller does in the end.
func (c claim) remove(t *testing.T, args ...string) {
	t.Helper()
	c.Kubectl(t, append([]string{"delete", "--wait=false"}, args...)...)
	c.Kubectl(t, append([]string{"patch", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`}, args...)...)
}

// TestWatchOfAClaimWhoseCompositeGoesFirst, as with the policy Foreground: the composite is shown
// until it is gone, then what it left behind, and the watch ends when the claim is gone too.
func TestWatchOfAClaimWhoseCompositeGoesFirst(t *testing.T) {
	t.Parallel()
	c := newClaim(t)
	w := c.watch(t)
	w.until("└┄XDatabase/"+c.composite+" (link:composite)", "Active")
	w.until("└─ConfigMap/settings", "Active")
	c.Kubectl(t, "delete", "database/db", "-n", c.namespace, "--wait=false")
	w.until("Database/db", "Deleting")
	c.Kubectl(t, "delete", "xdatabase/"+c.composite, "--wait=false")
	w.until("XDatabase/"+c.composite, "Deleting")
	c.remove(t, "xdatabase/"+c.composite)
	w.until("└┄XDatabase/"+c.composite+" (link:composite)", "Absent")
	w.until("└─ConfigMap/settings", "Active")
	c.Kubectl(t, "delete", "configmap/settings", "-n", c.far)
	c.remove(t, "database/db", "-n", c.namespace)
	w.ends()
}

// TestWatchOfAClaimThatGoesFirst, as with the policy Background: the composite has no
// ownerReference to the claim, and is followed all the same.
func TestWatchOfAClaimThatGoesFirst(t *testing.T) {
	t.Parallel()
	c := newClaim(t)
	w := c.watch(t)
	w.until("└┄XDatabase/"+c.composite+" (link:composite)", "Active")
	c.remove(t, "database/db", "-n", c.namespace)
	w.until(" XDatabase/"+c.composite+" ", "Active")
	c.compose(t, "later")
	w.until("─ConfigMap/later")
	c.remove(t, "xdatabase/"+c.composite)
	w.until(" XDatabase/"+c.composite+" ", "Absent")
	c.Kubectl(t, "delete", "configmap/settings", "configmap/later", "-n", c.far)
	w.ends()
}

// TestWatchOfAClaimWhoseCompositeComes: a composite that is named and not there yet is shown once
// it is, with what it owns in a namespace that was not watched.
func TestWatchOfAClaimWhoseCompositeComes(t *testing.T) {
	t.Parallel()
	c := newClaim(t)
	c.remove(t, "xdatabase/"+c.composite)
	c.Kubectl(t, "delete", "configmap/settings", "-n", c.far)
	w := c.watch(t)
	w.until("└┄XDatabase/"+c.composite+" (link:composite)", "Absent")
	c.Apply(t, fmt.Sprintf(claimAndComposite, c.namespace))
	w.until("└┄XDatabase/"+c.composite+" (link:composite)", "Active")
	c.compose(t, "later")
	w.until("└─ConfigMap/later")
	c.remove(t, "database/db", "-n", c.namespace)
	c.remove(t, "xdatabase/"+c.composite)
	c.Kubectl(t, "delete", "configmap/later", "-n", c.far)
	w.ends()
}

// TestWatchShowsWhatComesToNameAnObject: an EndpointSlice that is created names its Service by a
// label, and no ownerReference leads from one to the other.
func TestWatchShowsWhatComesToNameAnObject(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "service", "clusterip", "named", "--clusterip=None", "-n", ns)
	w := watch(t.Context(), t, "service/named", "-n", ns, "--kubeconfig", c.Kubeconfig())
	w.until("Service/named", "Active")
	c.Apply(t, `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: by-hand, labels: {kubernetes.io/service-name: named}}
addressType: IPv4
endpoints: []
`, "-n", ns)
	w.until("EndpointSlice/by-hand (link:endpoints)", "Active")
}
