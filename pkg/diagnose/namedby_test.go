package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// TestWhatNamesAnObjectMayKeepIt: of a finalizer that nobody knows, a Bucket that names the object is
// evidence, and so is a dependent that is being deleted; a dependent that is not is none.
func TestWhatNamesAnObjectMayKeepIt(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf(`apiVersion: storage.example.org/v1
kind: Bucket
metadata: {name: %[1]s, finalizers: [example.org/in-use]}
---
apiVersion: storage.example.org/v1
kind: Bucket
metadata: {name: %[1]s-copy}
spec: {sourceBucketRef: {kind: Bucket, name: %[1]s}}
`, ns))
	bucket := subject{"buckets.storage.example.org/" + ns, ""}
	fixture.Free(t, c, "", bucket.object)
	t.Cleanup(func() { c.Kubectl(t, "delete", "buckets.storage.example.org", ns+"-copy") })
	uid := c.Kubectl(t, "get", bucket.object, "-o", "jsonpath={.metadata.uid}")
	for _, name := range []string{"going", "staying"} {
		c.Apply(t, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s, finalizers: [example.org/f],
  ownerReferences: [{apiVersion: storage.example.org/v1, kind: Bucket, name: %s, uid: %s}]}}`, name, ns, ns, uid))
		fixture.Free(t, c, ns, "configmap/"+name)
	}
	deleted(t, c, "configmap/going", "-n", ns)
	deleted(t, c, bucket.object)
	cause := examine(t, c.Config(), Options{}, "", bucket).Stuck[0].Causes[0]
	wantEvidence(t, cause, "Bucket "+ns+"-copy refers to it in spec.sourceBucketRef.name")
	wantEvidence(t, cause, fmt.Sprintf("ConfigMap %s/going refers to it in metadata.ownerReferences, and is being deleted", ns))
	wantRemedy(t, cause, "It may be kept for the objects that refer to it: check")
	for _, command := range []string{"kubectl gc delete buckets.storage.example.org/" + ns + "-copy --dry-run",
		"kubectl gc why configmaps/going -n " + ns} {
		if !slices.Contains(cause.Commands, command) {
			t.Errorf("the commands are %q, without %q", cause.Commands, command)
		}
	}
	if slices.ContainsFunc(cause.Commands, func(command string) bool { return command == "kubectl gc why configmaps/staying -n "+ns }) {
		t.Errorf("a dependent that waits for its owner is to be looked at: %q", cause.Commands)
	}
}

// TestFinalizersThatTwoProgramsWrote: of one domain, that which others have is no newer name of that
// which the object has; by one program it may be.
func TestFinalizersThatTwoProgramsWrote(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	for second, want := range map[string]bool{"monitor": false, "backup": true} {
		ns := c.Namespace(t)
		for name, of := range map[string][2]string{"old": {"backup", "backup"}, "new": {"monitor", second}} {
			c.Apply(t, fmt.Sprintf("{apiVersion: platform.example.org/v1, kind: Database, metadata: {name: %s, namespace: %s, "+
				"finalizers: [%s.acme.example/finalizer]}}", name, ns, of[0]), "--field-manager=acme-"+of[1])
			fixture.Free(t, c, ns, "databases.platform.example.org/"+name)
		}
		deleted(t, c, "databases.platform.example.org/old", "-n", ns)
		proxy := faultproxy.Start(t, c.Config())
		cause := stuckOf(t, examine(t, proxy.Config(), Options{Known: fixture.Packs(t)}, ns), "old").Causes[0]
		if got := strings.Contains(strings.Join(cause.Evidence, "\n"), "another version of its program"); got != want {
			t.Errorf("written by %s: %q", second, cause.Evidence)
		}
		if n := proxy.Count("GET", "/deployments"); n > 3 {
			t.Errorf("Deployments were listed %d times", n)
		}
	}
}
