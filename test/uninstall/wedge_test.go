package uninstall

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/operator"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// guard keeps the ConfigMap vault of a namespace from being deleted. It returns what the server
// says then, and how often it has refused the deletion to a controller.
type guard func(t *testing.T, c *testcluster.Cluster, namespace string) (says string, refused func() int)

// TestADeletionThatTheServerRefuses is seen beforehand with --dry-run=server, and then hangs as it
// was seen, with a policy and with a webhook: that of a namespace, and that of an owner in the
// foreground.
func TestADeletionThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, protect := range map[string]guard{"by a policy": byPolicy, "by a webhook": byWebhook} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("in a namespace", func(t *testing.T) {
				t.Parallel()
				ns := c.Namespace(t)
				newWedge(t, c, ns, protect).hangs(t, []string{"Namespace/" + ns}, "namespace", ns)
			})
			t.Run("below an owner", func(t *testing.T) {
				t.Parallel()
				ns := c.Namespace(t)
				newWedge(t, c, ns, protect).hangs(t, []string{"ConfigMap " + ns + "/middle", "ConfigMap " + ns + "/top"},
					"configmap", "top", "-n", ns, "--cascade=foreground")
			})
		})
	}
}

// wedge is a namespace with a ConfigMap top, its dependent middle, and two of that: other, and
// vault, which the server protects; and zone, which has no owner. The API server, asked to delete
// all of a type in a namespace, stops at the first that admission refuses, and does not come to
// zone.
type wedge struct {
	*testcluster.Cluster
	namespace, says string
	refused         func() int
}

func newWedge(t *testing.T, c *testcluster.Cluster, ns string, protect guard) wedge {
	t.Helper()
	w := wedge{Cluster: c, namespace: ns}
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: zone}}", "-n", ns)
	owner := ""
	for _, name := range []string{"top", "middle", "vault", "other"} {
		c.Apply(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, ownerReferences: [%s]}}", name, owner),
			"-n", ns)
		if name == "top" || name == "middle" {
			uid := c.Kubectl(t, "get", "configmap", name, "-n", ns, "-o", "jsonpath={.metadata.uid}")
			owner = fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s, blockOwnerDeletion: true}", name, uid)
		}
	}
	w.says, w.refused = protect(t, c, ns)
	testcluster.Eventually(t, "the server refuses to delete vault", func(ctx context.Context) (bool, error) {
		_, err := c.Try(ctx, "", "delete", "configmap", "vault", "-n", ns, "--dry-run=server")
		return err != nil && strings.Contains(err.Error(), w.says), nil
	})
	return w
}

// hangs tests that the deletion of an object is seen not to end, that nothing is deleted without a
// yes to that, and that kubectl delete hangs: vault and zone are left, and these are being deleted
// for ever.
func (w wedge) hangs(t *testing.T, stuck []string, object ...string) {
	t.Helper()
	seen := w.plan(t, object)
	if len(seen.Protected) != 1 || seen.Protected[0].Object.Name != "vault" ||
		!strings.Contains(seen.Protected[0].Message, w.says) {
		t.Errorf("the plan has as protected %+v, want vault, because %s", seen.Protected, w.says)
	}
	if diff := cmp.Diff(stuck, names(stuckIn(seen))); diff != "" {
		t.Errorf("what is to be stuck (-) is not what is by the plan (+):\n%s", diff)
	}
	code, _, stderr := script.InProcess(t.Context(), "",
		append([]string{"delete", "--yes", "--kubeconfig", w.Kubeconfig()}, object...)...)
	if code != 2 || !strings.Contains(stderr,
		"nothing was deleted: the deletion would not complete: the server refuses to delete ConfigMap/vault: ") {
		t.Errorf("without --allow-stuck: exit code %d, %s", code, stderr)
	}
	if left := w.left(t); !slices.Equal(left, []string{"middle", "other", "top", "vault", "zone"}) {
		t.Fatalf("before the deletion there are %q", left)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kubectl := w.Command(ctx, append([]string{"delete"}, object...)...)
	if err := kubectl.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = kubectl.Wait() // it is to go on until it is killed
	}()
	i := &installed{cluster: w.Cluster}
	i.waitUntilGone(t, seen.Deleted)
	i.waitUntilDeleting(t, stuckIn(seen))
	testcluster.Eventually(t, "a controller has tried again",
		func(context.Context) (bool, error) { return w.refused() > 1, nil })
	select {
	case <-ended:
		t.Error("kubectl delete has ended")
	default:
	}
	cancel()
	<-ended
	var want []string
	for _, name := range []string{"middle", "top"} {
		if slices.Contains(stuck, "ConfigMap "+w.namespace+"/"+name) {
			want = append(want, name)
		}
	}
	if left := w.left(t); !slices.Equal(left, append(want, "vault", "zone")) {
		t.Errorf("there are %q, want %q", left, want)
	}
	if deleted := w.Kubectl(t, "get", "configmap", "vault", "-n", w.namespace, "-o",
		"jsonpath={.metadata.deletionTimestamp}"); deleted != "" {
		t.Error("vault is being deleted")
	}
}

// plan is what kubectl gc delete --dry-run=server says.
func (w wedge) plan(t *testing.T, object []string) v1alpha1.Plan {
	t.Helper()
	code, stdout, stderr := script.InProcess(t.Context(), "",
		append([]string{"delete", "--dry-run=server", "-o", "json", "--kubeconfig", w.Kubeconfig()}, object...)...)
	var plan v1alpha1.Plan
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	return plan
}

// left are the ConfigMaps of the namespace.
func (w wedge) left(t *testing.T) []string {
	t.Helper()
	all := strings.Fields(w.Kubectl(t, "get", "configmaps", "-n", w.namespace, "-o", "jsonpath={.items[*].metadata.name}"))
	slices.Sort(all)
	return all
}

// byPolicy protects with a ValidatingAdmissionPolicy. The server counts what it refuses.
func byPolicy(t *testing.T, c *testcluster.Cluster, ns string) (string, func() int) {
	t.Helper()
	c.Apply(t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: keep-%[1]s}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]
  validations: [{expression: "oldObject.metadata.name != 'vault'", message: it is kept}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: keep-%[1]s}
spec: {policyName: keep-%[1]s, validationActions: [Deny]}
`, ns))
	t.Cleanup(func() {
		c.Kubectl(t, "delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "keep-"+ns)
	})
	refused := func() int {
		for line := range strings.Lines(c.Kubectl(t, "get", "--raw", "/metrics")) {
			var count int
			if strings.HasPrefix(line, "apiserver_validating_admission_policy_check_total{") &&
				strings.Contains(line, `enforcement_action="deny"`) && strings.Contains(line, `policy="keep-`+ns+`"`) {
				if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' '):], &count); err != nil {
					t.Fatal(err)
				}
				return count
			}
		}
		return 0
	}
	var before atomic.Int64
	return "it is kept", func() int { return since(&before, refused()) }
}

// since is how much more there is than at the first call.
func since(before *atomic.Int64, now int) int {
	before.CompareAndSwap(0, int64(now))
	return now - int(before.Load())
}

// byWebhook protects with a validating webhook that nothing passes without.
func byWebhook(t *testing.T, c *testcluster.Cluster, ns string) (string, func() int) {
	t.Helper()
	var refused atomic.Int64
	hook := operator.ServeWebhook(t, func(r *admissionv1.AdmissionRequest) (string, bool) {
		if !isVault(r) {
			return "", true
		}
		if r.DryRun == nil || !*r.DryRun {
			refused.Add(1)
		}
		return "it is kept", true
	})
	c.Apply(t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: keep-%[1]s}
webhooks:
- name: keep.example.org
  admissionReviewVersions: [v1]
  clientConfig: {url: '%[2]s', caBundle: %[3]s}
  failurePolicy: Fail
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]
  sideEffects: None
`, ns, hook.URL, hook.CABundle))
	t.Cleanup(func() { c.Kubectl(t, "delete", "validatingwebhookconfiguration", "keep-"+ns) })
	return "it is kept", func() int { return int(refused.Load()) }
}

// isVault reports whether a request is about vault. One to delete all of a type has no name.
func isVault(r *admissionv1.AdmissionRequest) bool {
	var old metav1.PartialObjectMetadata
	return json.Unmarshal(r.OldObject.Raw, &old) == nil && old.Name == "vault"
}
