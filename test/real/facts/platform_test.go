package facts

import (
	_ "embed"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/system.yaml
var systemManifest string

//go:embed testdata/tenant.yaml
var tenantManifest string

// platform is a control plane with Crossplane, provider-kubernetes and the types of the manifest
// tenant.yaml.
type platform struct {
	*testcluster.Cluster
	crossplane, provider *program.Program
}

var (
	claims     = schema.GroupVersionResource{Group: "platform.example.org", Version: "v1", Resource: "tenants"}
	composites = schema.GroupVersionResource{Group: "platform.example.org", Version: "v1", Resource: "xtenants"}
	managed    = schema.GroupVersionResource{Group: "kubernetes.crossplane.io", Version: "v1alpha2", Resource: "objects"}
	configs    = schema.GroupVersionResource{Group: "kubernetes.crossplane.io", Version: "v1alpha1",
		Resource: "providerconfigs"}
	users = schema.GroupVersionResource{Group: "kubernetes.crossplane.io", Version: "v1alpha1",
		Resource: "providerconfigusages"}
	usages = schema.GroupVersionResource{Group: "apiextensions.crossplane.io", Version: "v1beta1", Resource: "usages"}
	xrds   = schema.GroupVersionResource{Group: "apiextensions.crossplane.io", Version: "v1",
		Resource: "compositeresourcedefinitions"}
	crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"}
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// newPlatform starts it all.
func newPlatform(t *testing.T) *platform {
	t.Helper()
	p := &platform{Cluster: testcluster.Start(t, testcluster.Controllers(controllers...))}
	p.crossplane = beside.StartCrossplane(t, p.Cluster)
	p.provider = beside.StartProvider(t, p.Cluster)
	kubeconfig, err := os.ReadFile(p.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	p.Kubectl(t, "create", "secret", "generic", "self", "-n", beside.System,
		"--from-literal=kubeconfig="+string(kubeconfig))
	p.Apply(t, systemManifest)
	p.define(t, tenantManifest, "xtenants.platform.example.org")
	return p
}

// define makes a claim's and a composite's type, and returns when Crossplane and the collector know
// them.
func (p *platform) define(t *testing.T, manifest, name string) {
	t.Helper()
	p.Apply(t, manifest)
	read(t, p.Cluster, xrds, "").until(name, "is offered", func(o *unstructured.Unstructured) bool {
		return condition(o, "Established") && condition(o, "Offered")
	})
	learnTypes(t, p.Cluster)
}

// TestCrossplane tests what Crossplane does. The tests share what runs, one after the other, and
// each leaves it running.
func TestCrossplane(t *testing.T) {
	p := newPlatform(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *platform)
	}{
		{"ClaimInTheBackground", claimInTheBackground},
		{"ClaimInTheForeground", claimInTheForeground},
		{"CompositeOfAClaim", compositeOfAClaim},
		{"CompositeAlone", compositeAlone},
		{"ClaimByThePlugin", claimByThePlugin},
		{"ClaimInTheForegroundByThePlugin", claimInTheForegroundByThePlugin},
		{"ClaimBoundElsewhere", claimBoundElsewhere},
		{"NamespaceByThePlugin", namespaceByThePlugin},
		{"CompositeOfAClaimByThePlugin", compositeOfAClaimByThePlugin},
		{"Definition", definition},
		{"Usage", usage},
		{"ProviderConfig", providerConfig},
		{"ProviderStopped", providerStopped},
		{"CrossplaneStopped", crossplaneStopped},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, p) })
	}
}

// renamed gives the manifest of the type Tenant for another.
func renamed(kind string) string {
	return strings.NewReplacer("Tenant", kind, "tenant", strings.ToLower(kind)).Replace(tenantManifest)
}
