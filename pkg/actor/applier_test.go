package actor

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAnApplierIsNoActor: who wrote the manifest does not remove the finalizer, however alive they
// are.
func TestAnApplierIsNoActor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for _, test := range []struct{ manager, who, evidence string }{
		{"argocd-controller", "", "with the manifest, and does not remove it"},
		{"argocd-application-controller", "", "with the manifest, and does not remove it"},
		{"kustomize-controller", "", "with the manifest, and does not remove it"},
		{"helm-controller", "", "with the manifest, and does not remove it"},
		{"kapp-controller", "", "with the manifest, and does not remove it"},
		{"fleetagent", "", "with the manifest, and does not remove it"},
		{"Helm", "", "with the manifest, and does not remove it"},
		{"Terraform", "", "with the manifest, and does not remove it"},
		{"HashiCorp", "", "with the manifest, and does not remove it"},
		{"pulumi-kubernetes-1a2b3c4d", "", "with the manifest, and does not remove it"},
		{"kubectl-client-side-apply", "", `field manager "kubectl-client-side-apply" wrote it`},
		{"OpenAPI-Generator", "", `field manager "OpenAPI-Generator" wrote it`},
		{"python-requests", "", `field manager "python-requests" wrote it`},
		{"manager", "", `field manager "manager" wrote it`},
		{"gotk-zebra-controller", "gotk-zebra-controller", `field manager "gotk-zebra-controller" wrote it`},
		{"helmet-operator", "helmet-operator", `field manager "helmet-operator" wrote it`},
	} {
		t.Run(test.manager, func(t *testing.T) {
			ns := c.Namespace(t)
			c.Apply(t, fixture.ConfigMap(ns, "cm", "zebra.example.org/x"), "--field-manager="+test.manager)
			fixture.Free(t, c, ns, "configmap/cm")
			for _, name := range []string{test.manager, "zebra-controller"} {
				if name == "kustomize-controller" || name == "helm-controller" || name == "kapp-controller" ||
					name == "zebra-controller" {
					controller{name: name, image: "example.com/c", replicas: 1, status: ready}.install(t, c, ns)
				}
			}
			a := actorOf(t, c, fixture.Packs(t), "zebra.example.org/x", wholeOf(t, c, ns))
			life := Unknown
			if test.manager == "gotk-zebra-controller" {
				life = Alive
			}
			wantActor(t, a, life, test.evidence)
			if a.Who != test.who {
				t.Errorf("it is called %q, want %q", a.Who, test.who)
			}
		})
	}
}

// TestWhoAppliesMoreThanTheFinalizerIsAnApplier: its name is not known, and it has applied the
// content, too.
func TestWhoAppliesMoreThanTheFinalizerIsAnApplier(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	manifest := fixture.ConfigMap(ns, "cm", "zebra.example.org/x") + "data: {a: b}\n"
	c.Apply(t, manifest, "--server-side", "--field-manager=in-house-delivery")
	fixture.Free(t, c, ns, "configmap/cm")
	a := actorOf(t, c, fixture.Packs(t), "zebra.example.org/x", wholeOf(t, c, ns))
	wantActor(t, a, Unknown, "with the manifest, and does not remove it")
	if a.Who != "" {
		t.Errorf("it is called %q", a.Who)
	}
}

// wholeOf reads the ConfigMap cm as it is.
func wholeOf(t testing.TB, c *testcluster.Cluster, ns string) *unstructured.Unstructured {
	t.Helper()
	client, catalog := fixture.Connect(t, c.Config())
	configMaps, _ := catalog.Kind("v1", "ConfigMap")
	o, err := client.GetObject(t.Context(), configMaps, ns, "cm")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestThatAManagerAppliesCostsTheSameAmongThousandsOfFinalizers: it is asked about each of them.
func TestThatAManagerAppliesCostsTheSameAmongThousandsOfFinalizers(t *testing.T) {
	cost := func(n int) float64 {
		finalizers := map[string]any{}
		for i := range n {
			finalizers[fmt.Sprintf(`v:"f%d.example.com/hold"`, i)] = map[string]any{}
		}
		o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{
			"manager": "zebra", "operation": "Apply",
			"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:finalizers": finalizers}},
		}}}}}
		return testing.AllocsPerRun(10, func() { applies(o, "zebra") })
	}
	if few, many := cost(3), cost(3000); many > few {
		t.Errorf("%v allocations among 3 finalizers, %v among 3000", few, many)
	}
}
