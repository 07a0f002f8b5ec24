package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAHiddenTypeIsNotTakenForADeletedOne: with --ordered a kind that is not served may have been
// deleted by an earlier call. One that discovery only leaves out, or whose group failed, still has
// the object; and where its definition is gone indeed, nothing is missing.
func TestAHiddenTypeIsNotTakenForADeletedOne(t *testing.T) {
	t.Parallel()
	// Its type goes, which would be a gap of other tests.
	c := testcluster.Start(t, testcluster.NoControllers())
	ns := c.Namespace(t)
	group := ns + ".example.com"
	definition := strings.ReplaceAll(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`, "GROUP", group)
	c.Apply(t, definition)
	file := filepath.Join(t.TempDir(), "all.yaml")
	widget := "apiVersion: " + group + "/v1\nkind: Widget\nmetadata: {name: w}\n"
	if err := os.WriteFile(file, []byte(widget+configMap("c", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := faultproxy.Start(t, c.Config())
	remove := func() (int, string) {
		c.Apply(t, configMap("c", ""), "-n", ns)
		code, _, stderr := script.InProcess(t.Context(), "", "delete", "-f", file, "--ordered", "--ignore-not-found",
			"--allow-incomplete",
			"--yes", "-n", ns, "--kubeconfig", proxy.Kubeconfig(t))
		return code, stderr
	}
	// Of a change that is about nothing else, nothing was listed that would tell.
	change := func() (int, string) {
		code, _, stderr := script.InProcess(t.Context(), "", "delete", "-f", side(t, widget), "--unless-in",
			side(t, configMap("c", "")), "-n", ns, "--kubeconfig", proxy.Kubeconfig(t))
		return code, stderr
	}
	proxy.On(faultproxy.Groups, faultproxy.WithoutGroup(group))
	if code, stderr := change(); code != 1 || !strings.Contains(stderr, `no matches for kind "Widget"`) {
		t.Errorf("of a change, while its type is hidden: exit code %d: %s", code, stderr)
	}
	if code, stderr := remove(); code != 1 || !strings.Contains(stderr, `no matches for kind "Widget"`) {
		t.Errorf("while its type is hidden: exit code %d: %s", code, stderr)
	}
	c.Kubectl(t, "delete", "crd", "widgets."+group)
	if code, stderr := remove(); code != 0 {
		t.Errorf("when its type is deleted: exit code %d: %s", code, stderr)
	}
	if code, stderr := change(); code != 0 {
		t.Errorf("of a change, when its type is deleted: exit code %d: %s", code, stderr)
	}
}
