package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// noUsages registers a webhook that denies the deletion of one bucket that is in use, as that of
// Crossplane does. What is called about it fails the test once it is registered: that of Crossplane
// writes on dry runs.
func noUsages(t *testing.T, c *testcluster.Cluster, bucket, by string) {
	t.Helper()
	var registering atomic.Bool
	registering.Store(true)
	client := answering(t, func(map[string]any) (string, []map[string]any) {
		if !registering.Load() {
			t.Error("the webhook was called, which writes on dry runs")
		}
		return fmt.Sprintf("%s 1 Usage(s), including the Usage %q %s.", inUse, bucket, by), nil
	})
	registered(t, c, "validating", bucket, fmt.Sprintf(`---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: nousages.apiextensions.crossplane.io
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: %[2]s
  objectSelector: {matchLabels: {crossplane.io/in-use: "true", test: %[1]s}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [DELETE], resources: ["*"]}]
`, bucket, client), fails(c, "delete", "buckets.storage.example.org", bucket, "--dry-run=server"))
	registering.Store(false)
	t.Cleanup(func() { registering.Store(true) })
}

// bucketInUse makes a bucket that is in use and the composite that it was composed for, which is
// being deleted in the foreground.
func bucketInUse(t *testing.T, c *testcluster.Cluster, ns string) {
	t.Helper()
	c.Apply(t, fmt.Sprintf("apiVersion: platform.example.org/v1\nkind: XDatabase\nmetadata: {name: %s}\n", ns))
	c.Apply(t, fmt.Sprintf(`apiVersion: storage.example.org/v1
kind: Bucket
metadata:
  name: %[1]s
  labels: {crossplane.io/in-use: "true", test: %[1]s}
  ownerReferences: [{apiVersion: platform.example.org/v1, kind: XDatabase, name: %[1]s, uid: %[2]s, controller: true, blockOwnerDeletion: true}]
`, ns, uidOf(t, c, "", "xdatabase/"+ns)))
	t.Cleanup(func() { c.Kubectl(t, "delete", "buckets.storage.example.org", ns) })
	fixture.Free(t, c, "", "xdatabase/"+ns)
	deleted(t, c, "xdatabase/"+ns, "--cascade=foreground")
}

// wantNoWebhookDeleted fails if the webhook is to be deleted.
func wantNoWebhookDeleted(t *testing.T, c v1alpha1.Cause) {
	t.Helper()
	if slices.ContainsFunc(c.Commands,
		func(line string) bool { return strings.Contains(line, "delete validatingwebhookconfiguration") }) ||
		strings.Contains(c.Remedy, "registration") {
		t.Errorf("the webhook is to be deleted: %s %q", c.Remedy, c.Commands)
	}
}

// TestAUsageIsNamedWithWhatUsesTheObject: it is the cause that a webhook denies the deletion with
// 409, of the object and of what waits for it. What uses the object is to be deleted, or the Usage,
// and never the webhook.
func TestAUsageIsNamedWithWhatUsesTheObject(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	bucketInUse(t, c, ns)
	c.Apply(t, fmt.Sprintf(`apiVersion: apiextensions.crossplane.io/v1
kind: Usage
metadata: {name: %[1]s}
spec:
  of: {apiVersion: storage.example.org/v1, kind: Bucket, resourceRef: {name: %[1]s}}
  by: {apiVersion: storage.example.org/v1, kind: Policy, resourceRef: {name: %[1]s}}
`, ns))
	t.Cleanup(func() { c.Kubectl(t, "delete", "usages.apiextensions.crossplane.io", ns, "--ignore-not-found") })
	policy := "policies.storage.example.org/" + ns
	c.Apply(t, fmt.Sprintf(
		"apiVersion: storage.example.org/v1\nkind: Policy\nmetadata: {name: %s, finalizers: [nobody.example.net/x]}\n", ns))
	fixture.Free(t, c, "", policy)
	noUsages(t, c, ns, "by resource Policy/"+ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"buckets.storage.example.org/" + ns, ""},
		subject{"xdatabases.platform.example.org/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Bucket/" + ns: {"AdmissionDenied Usage/" + ns},
		"XDatabase/" + ns: {"AdmissionDenied Usage/" + ns}})
	for _, s := range d.Stuck {
		cause := s.Causes[0]
		wantEvidence(t, cause, "DELETE of buckets.storage.example.org is denied: Usage "+ns+
			" keeps it, which is known without a dry run")
		wantEvidence(t, cause, "Usage "+ns+" keeps it for Policy "+ns+", which uses it")
		wantRemedy(t, cause, "Delete Policy "+ns+" first")
		wantNoWebhookDeleted(t, cause)
		want := []string{"kubectl gc delete policies.storage.example.org/" + ns + " --dry-run",
			"kubectl gc delete usages.apiextensions.crossplane.io/" + ns}
		if !slices.Equal(cause.Commands, want) {
			t.Errorf("the commands are %q, want %q", cause.Commands, want)
		}
	}

	// It is followed to what holds the user, if that is being deleted.
	deleted(t, c, policy)
	want := []string{"AdmissionDenied Usage/" + ns, "FinalizerActorUnknown Policy/" + ns}
	d = examine(t, c.Config(), Options{}, ns, subject{"xdatabases.platform.example.org/" + ns, ""},
		subject{"buckets.storage.example.org/" + ns, ""})
	wantCauses(t, d, map[string][]string{"XDatabase/" + ns: want, "Bucket/" + ns: want})
	causes := d.Stuck[0].Causes
	wantEvidence(t, causes[0], "Usage "+ns+" keeps it for Policy "+ns+", which uses it, and is being deleted")
	wantRemedy(t, causes[0], "find out what it waits for")
	if path(causes[0]) != "Bucket" || path(causes[1]) != "Bucket" {
		t.Errorf("the causes were found through %q and %q, want the Bucket", path(causes[0]), path(causes[1]))
	}
}

// TestAUsageWithAReasonIsNamedWithIt: nothing uses the object, and the Usage of Crossplane 2 says
// why it is kept. If it cannot be listed, the webhook is the cause, and the answer is not complete.
func TestAUsageWithAReasonIsNamedWithIt(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	bucketInUse(t, c, ns)
	c.Apply(t, fmt.Sprintf(`apiVersion: protection.crossplane.io/v1
kind: ClusterUsage
metadata: {name: %[1]s}
spec: {of: {apiVersion: storage.example.org/v1, kind: Bucket, resourceRef: {name: %[1]s}}, reason: the auditors need it}
`, ns))
	t.Cleanup(func() { c.Kubectl(t, "delete", "clusterusages", ns) })
	noUsages(t, c, ns, `with reason: "the auditors need it"`)
	d := examine(t, c.Config(), Options{}, ns, subject{"xdatabases.platform.example.org/" + ns, ""})
	wantCauses(t, d, map[string][]string{"XDatabase/" + ns: {"AdmissionDenied ClusterUsage/" + ns}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "ClusterUsage "+ns+" keeps it for this reason: the auditors need it")
	wantRemedy(t, cause, "Delete ClusterUsage "+ns+" if nothing needs the object any more")
	if want := "kubectl gc delete clusterusages.protection.crossplane.io/" + ns; last(cause) != want {
		t.Errorf("the last command is %q, want %q", last(cause), want)
	}

	permitted(t, c, ns, "get,list,watch,delete",
		"xdatabases.platform.example.org,buckets.storage.example.org,validatingwebhookconfigurations.admissionregistration.k8s.io")
	until(t, c, "yes", "auth", "can-i", "delete", "buckets.storage.example.org", "--as="+ns)
	d = examine(t, c.As(ns), Options{}, ns, subject{"xdatabases.platform.example.org/" + ns, ""})
	cause = d.Stuck[0].Causes[0]
	if cause.Code != string(core.AdmissionDenied) || cause.Object.Kind != "ValidatingWebhookConfiguration" || d.Complete {
		t.Errorf("the cause is %s of %s %s, complete: %t; want the webhook, and an answer that is not complete", cause.Code,
			cause.Object.Kind, cause.Object.Name, d.Complete)
	}
	wantEvidence(t, cause, "the label crossplane.io/in-use says that something keeps it")
	wantNoWebhookDeleted(t, cause)
}

// TestWhatIsRepeatedWhenAUsageIsGoneIsSaid: somebody has tried to delete the bucket, which
// Crossplane does itself when the Usage is gone. The examination is the same without dry runs.
func TestWhatIsRepeatedWhenAUsageIsGoneIsSaid(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	bucketInUse(t, c, ns)
	c.Apply(t, fmt.Sprintf(`apiVersion: apiextensions.crossplane.io/v1
kind: Usage
metadata: {name: %[1]s, finalizers: [usage.apiextensions.crossplane.io]}
spec: {of: {apiVersion: storage.example.org/v1, kind: Bucket, resourceRef: {name: %[1]s}}, reason: the auditors need it, replayDeletion: true}
`, ns))
	fixture.Free(t, c, "", "usages.apiextensions.crossplane.io/"+ns)
	t.Cleanup(func() { c.Kubectl(t, "delete", "usages.apiextensions.crossplane.io", ns, "--wait=false") })
	noUsages(t, c, ns, `with reason: "the auditors need it"`)
	for _, policy := range []string{"", "Foreground"} {
		if policy != "" {
			c.Kubectl(t, "annotate", "buckets.storage.example.org", ns,
				"usage.crossplane.io/deletion-attempt-with-policy="+policy)
		}
		for _, none := range []bool{false, true} {
			d := examine(t, c.Config(), Options{NoDryRun: none}, ns, subject{"buckets.storage.example.org/" + ns, ""})
			wantCauses(t, d, map[string][]string{"Bucket/" + ns: {"AdmissionDenied Usage/" + ns}})
			said := fmt.Sprint(d.Stuck[0].Causes[0])
			if got := strings.Contains(said,
				"when Usage "+ns+" is gone, Crossplane deletes it with the policy foreground"); got != (policy != "") {
				t.Errorf("with policy %q, without dry runs %t: that Crossplane deletes it is said: %t; in %s", policy, none,
					got, said)
			}
		}
	}
}

// TestWithoutDryRunsNothingIsTried: the webhook that would deny it is not called, and the answer
// says that nothing was tried.
func TestWithoutDryRunsNothingIsTried(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: %s}\n", ns))
	config := c.Config()
	proxy := faultproxy.Start(t, config)
	for _, none := range []bool{false, true} {
		before := proxy.Count("DELETE", "")
		d := examine(t, proxy.Config(), Options{NoDryRun: none}, ns, subject{"configmaps/kept", ns})
		wantCauses(t, d, map[string][]string{"ConfigMap/kept": {"NotDeleting ConfigMap/kept"}})
		if sent := proxy.Count("DELETE", "") - before; (sent == 0) != none {
			t.Errorf("without dry runs %t: %d DELETEs were sent", none, sent)
		}
		if said := fmt.Sprint(d.Stuck[0].Causes[0]); strings.Contains(said, "no dry run was to be sent") != none {
			t.Errorf("without dry runs %t: %s", none, said)
		}
	}
}
