package crd

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// TestInstall: the server accepts the CRDs of a module. They have the labels, and no conversion
// webhook.
func TestInstall(t *testing.T) {
	c := testcluster.Shared(t)
	Install(t, c, Source{Pinned: "providerkubernetes", Module: "github.com/crossplane-contrib/provider-kubernetes",
		Dir: "package/crds"}, map[string]string{"a": "b"})
	got := c.Kubectl(t, "get", "crd", "objects.kubernetes.crossplane.io", "-o",
		"jsonpath={.metadata.labels.a} {.spec.conversion.strategy}")
	if got != "b None" {
		t.Errorf("the definition has the label and the conversion %q", got)
	}
	if types := c.Kubectl(t, "api-resources", "--api-group=kubernetes.crossplane.io", "-o",
		"name"); !strings.Contains(types, "providerconfigusages.") {
		t.Errorf("the types that are served are\n%s", types)
	}
}
