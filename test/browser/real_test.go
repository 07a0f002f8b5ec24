package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// run runs the binary of kubectl gc, and returns what it prints. Exit code 2 is an answer.
func run(t *testing.T, kubeconfig string, args ...string) string {
	t.Helper()
	root, err := testcluster.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl-gc"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 2) {
		t.Fatalf("kubectl gc %q: %v: run \"make build\" first\n%s", args, err, stderr.String())
	}
	return stdout.String()
}

func decoded[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return value
}

// stuckShop makes a namespace with a Deployment, what it owns, and a claim whose finalizer nobody
// removes.
func stuckShop(t *testing.T, c *testcluster.Cluster) string {
	t.Helper()
	ns := c.Namespace(t)
	c.Apply(t, fixture.Deployment(ns, "web", 2))
	testcluster.Eventually(t, "the pods of the deployment", func(context.Context) (bool, error) {
		return strings.Count(c.Kubectl(t, "get", "pods", "-n", ns, "-o", "name"), "pod/") == 2, nil
	})
	uid := c.Kubectl(t, "get", "deployment/web", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: settings
  namespace: %s
  finalizers: [snapshot.storage.kubernetes.io/pvc-as-source-protection, example.com/cleanup]
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: %s}]
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`, ns, uid))
	fixture.Free(t, c, ns, "pvc/settings")
	c.Kubectl(t, "delete", "pvc/settings", "-n", ns, "--wait=false")
	testcluster.Eventually(t, "the finalizer that protects a claim is removed", func(context.Context) (bool, error) {
		return !strings.Contains(c.Kubectl(t, "get", "pvc/settings", "-n", ns, "-o", "jsonpath={.metadata.finalizers}"),
			"kubernetes.io/pvc-protection"), nil
	})
	return ns
}

func TestThePageOfARealTreeSaysWhatTheCommandsSay(t *testing.T) {
	c := testcluster.Shared(t)
	ns := stuckShop(t, c)
	tree := decoded[v1alpha1.Tree](t, run(t, c.Kubeconfig(), "tree", "-n", ns, "-o", "json"))
	why := decoded[v1alpha1.Diagnosis](t, run(t, c.Kubeconfig(), "why", "pvc/settings", "-n", ns, "-o", "json"))
	tb := open(t, run(t, c.Kubeconfig(), "tree", "-n", ns, "-o", "html"), setup{})

	tb.expect("the title", tb.text("#title"), "kubectl gc tree -n "+ns)
	seen := map[string]bool{}
	tb.press(kb.Home)
	for range tree.Nodes {
		seen[tb.selected()] = true
		tb.press(kb.ArrowDown)
	}
	for _, n := range tree.Nodes {
		if !seen[n.Ref.Kind+"/"+n.Ref.Name] {
			t.Errorf("the arrows do not come to %s/%s", n.Ref.Kind, n.Ref.Name)
		}
	}
	if !tb.hidden("#gaps") {
		t.Error("a page without gaps shows some")
	}

	tb.press("/")
	tb.press("settings")
	tb.press(kb.Enter)
	panel := tb.text("#object")
	if len(why.Stuck) != 1 || len(why.Stuck[0].Causes) == 0 {
		t.Fatalf("why says %+v", why.Stuck)
	}
	for _, cause := range why.Stuck[0].Causes {
		for _, want := range append(append([]string{cause.Code, cause.Summary, cause.Remedy}, cause.Evidence...),
			cause.Commands...) {
			if !strings.Contains(panel, want) {
				t.Errorf("the panel does not say %q: %s", want, panel)
			}
		}
	}
	for _, k := range decoded[v1alpha1.Explanation](t,
		run(t, c.Kubeconfig(), "explain", "snapshot.storage.kubernetes.io/pvc-as-source-protection", "-o",
			"json")).Finalizers {
		for _, want := range []string{k.Actor, k.Does, k.IfRemoved, k.Risk} {
			if !strings.Contains(panel, want) {
				t.Errorf("the panel does not say what is known of the finalizer: %q", want)
			}
		}
	}
	for _, want := range []string{"Deployment/web", "Deleting for", "example.com/cleanup",
		"snapshot.storage.kubernetes.io/pvc-as-source-protection"} {
		if !strings.Contains(panel, want) {
			t.Errorf("the panel does not say %q: %s", want, panel)
		}
	}
	tb.screenshot("real-tree")
}

func TestThePageOfARealPlanStepsThroughItsWaves(t *testing.T) {
	c := testcluster.Shared(t)
	ns := stuckShop(t, c)
	for _, dryRun := range []string{"client", "server"} {
		args := []string{"delete", "deployment/web", "-n", ns, "--cascade=foreground", "--dry-run=" + dryRun, "-o"}
		plan := decoded[v1alpha1.Plan](t, run(t, c.Kubeconfig(), append(args, "json")...))
		tb := open(t, run(t, c.Kubeconfig(), append(args, "html")...), setup{})
		tb.expect("the title", tb.text("#title"), "kubectl gc delete Deployment/web --cascade=foreground")
		if !strings.Contains(tb.text("#plan"), plan.Digest) {
			t.Errorf("the page does not have the digest %s", plan.Digest)
		}
		writes := map[int]int{}
		for _, a := range plan.Actions {
			writes[a.Wave]++
		}
		for wave := 1; wave <= len(writes); wave++ {
			tb.press("n")
			want := fmt.Sprintf("wave %d (%d of %d): ", wave, wave, len(writes))
			if got := tb.text("#step"); !strings.HasPrefix(got, want) {
				t.Errorf("the step is %q, want %q", got, want)
			}
			if n := eval[int](tb, "document.querySelectorAll('#actions li').length"); n != writes[wave] {
				t.Errorf("wave %d shows %d writes, want %d", wave, n, writes[wave])
			}
		}
		tb.screenshot("real-plan-" + dryRun)
	}
}

// TestThePageOfAUserWithFewRightsSaysWhatItLacks: who may not list Secrets sees that they are
// unknown, and still sees the rest.
func TestThePageOfAUserWithFewRightsSaysWhatItLacks(t *testing.T) {
	c := testcluster.Shared(t)
	ns := stuckShop(t, c)
	user := "viewer-" + ns
	c.Apply(t, fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: viewer, namespace: %[1]s}
rules: [{apiGroups: [""], resources: [pods, persistentvolumeclaims], verbs: [get, list, watch]}, {apiGroups: [apps], resources: ["*"], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: viewer, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: viewer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[2]s}]
`, ns, user))
	tb := open(t, run(t, c.KubeconfigAs(t, user), "tree", "deployment/web", "-n", ns, "-o", "html"), setup{})
	if tb.hidden("#gaps") || !strings.HasPrefix(tb.text("#gaps summary"), "Incomplete: ") {
		t.Fatalf("the gaps are hidden, or say %q", tb.text("#gaps summary"))
	}
	if gaps := tb.text("#gaps ul"); !strings.Contains(gaps, "secrets") || !strings.Contains(gaps, "Forbidden") {
		t.Errorf("the gaps are %s", gaps)
	}
	tb.press("/")
	tb.press("pod")
	if found := tb.text("#found"); found != "2 objects" {
		t.Errorf("found %s, want the pods", found)
	}
	tb.screenshot("real-gaps")
}
