package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestThePictureOfTheDocumentation takes the picture that docs/tree.md shows: a Challenge that
// cert-manager, which is scaled to 0, should finalize. With UPDATE_IMAGES=1 it goes to docs/images.
func TestThePictureOfTheDocumentation(t *testing.T) {
	c := testcluster.Another(t, "types")
	const ns = "shop"
	c.Kubectl(t, "create", "namespace", ns)
	c.Kubectl(t, "create", "namespace", "cert-manager")
	fixture.Define(t, c, fixture.Kind{Group: "acme.cert-manager.io", Kind: "Challenge"})
	c.Apply(t, fixture.Deployment("cert-manager", "cert-manager", 0)+"---\n"+fixture.Deployment(ns, "web", 3)+"---\n"+
		fixture.Deployment(ns, "admin", 1))
	testcluster.Eventually(t, "the pods of the deployments", func(context.Context) (bool, error) {
		return strings.Count(c.Kubectl(t, "get", "pods", "-n", ns, "-o", "name"), "pod/") == 4, nil
	})
	owner := func(kind, apiVersion, name string) string {
		uid := c.Kubectl(t, "get", strings.ToLower(kind), name, "-n", ns, "-o", "jsonpath={.metadata.uid}")
		return fmt.Sprintf("{apiVersion: %s, kind: %s, name: %s, uid: %s}", apiVersion, kind, name, uid)
	}
	web, admin := owner("Deployment", "apps/v1", "web"), owner("Deployment", "apps/v1", "admin")
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: web-settings, namespace: %[1]s, ownerReferences: [%[2]s, %[3]s]}
---
apiVersion: v1
kind: Secret
metadata: {name: web-tls, namespace: %[1]s, ownerReferences: [%[2]s]}
`, ns, web, admin))
	c.Apply(t, fmt.Sprintf(`apiVersion: acme.cert-manager.io/v1
kind: Challenge
metadata: {name: web-tls, namespace: %s, finalizers: [acme.cert-manager.io/finalizer], ownerReferences: [%s]}
`, ns, owner("Secret", "v1", "web-tls")))
	fixture.Free(t, c, ns, "challenge/web-tls")
	c.Kubectl(t, "delete", "challenge/web-tls", "-n", ns, "--wait=false")

	tb := open(t, run(t, c.Kubeconfig(), "tree", "-n", ns, "-o", "html"), setup{width: 1200, height: 700})
	tb.press("/")
	tb.press("challenge")
	tb.press(kb.Enter)
	tb.expect("what is selected", tb.selected(), "Challenge/web-tls")
	tb.press(kb.Escape)
	tb.screenshot("tree")
	if os.Getenv("UPDATE_IMAGES") != "" {
		image, err := os.ReadFile(filepath.Join("screenshots", "tree.png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "images", "tree.png"), image, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
