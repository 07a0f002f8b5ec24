package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// TestAManagedResourceWithoutItsProviderConfigSaysSo: whatever group its provider has. Its own
// condition is the evidence, and the config is to be created again.
func TestAManagedResourceWithoutItsProviderConfigSaysSo(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	manifest := fmt.Sprintf(`apiVersion: storage.example.org/v1
kind: Bucket
metadata: {name: %[1]s, finalizers: [finalizer.managedresource.crossplane.io]}
spec: {providerConfigRef: {name: %[1]s}}
status: {conditions: [{type: Synced, status: "False", reason: ReconcileError, message: 'connect failed: cannot get referenced ProviderConfig'}]}
`, ns)
	bucket := subject{"buckets.storage.example.org/" + ns, ""}
	c.Apply(t, manifest)
	fixture.Free(t, c, "", bucket.object)
	deleted(t, c, bucket.object)
	d := examine(t, c.Config(), Options{}, ns, bucket)
	wantCauses(t, d, map[string][]string{"Bucket/" +
		ns: {"DependencyMissing ProviderConfig/" + ns, "FinalizerActorNotFound Bucket/" + ns}})
	causes := d.Stuck[0].Causes
	wantEvidence(t, causes[0], "needs ProviderConfig "+ns+", which does not exist")
	wantEvidence(
		t, causes[0], "its condition Synced is False (ReconcileError): connect failed: cannot get referenced ProviderConfig")
	wantRemedy(t, causes[0], "Create ProviderConfig "+ns+" again, as it was")

	// With the config the condition is what is known first.
	c.Apply(t, fmt.Sprintf("apiVersion: storage.example.org/v1\nkind: ProviderConfig\nmetadata: {name: %s}\n", ns))
	t.Cleanup(func() { c.Kubectl(t, "delete", "providerconfigs.storage.example.org", ns) })
	d = examine(t, c.Config(), Options{}, ns, bucket)
	wantCauses(t, d, map[string][]string{"Bucket/" + ns: {"FinalizerActorNotFound Bucket/" + ns}})
	if first := d.Stuck[0].Causes[0].Evidence[0]; !strings.HasPrefix(first,
		"its condition Synced is False (ReconcileError)") {
		t.Errorf("the evidence begins with %q, want the condition", first)
	}
}
