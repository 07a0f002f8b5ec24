package facts

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// tenant is a claim with all that was made for it.
type tenant struct {
	claim, composite          *unstructured.Unstructured
	managed, users, externals []unstructured.Unstructured
}

// newTenant makes a claim in a namespace of its own and waits until all that it stands for is
// ready. The policy is that of spec.compositeDeletePolicy.
func newTenant(t *testing.T, p *platform, policy string) tenant {
	t.Helper()
	ns := p.Namespace(t)
	p.Apply(t, fmt.Sprintf(`
apiVersion: platform.example.org/v1
kind: Tenant
metadata: {name: acme}
spec: {size: small, compositeDeletePolicy: %s}
`, policy), "-n", ns)
	return p.tenantOf(t, claims, ns)
}

// tenantOf waits until the claim acme in a namespace is ready, and gives what was made for it.
func (p *platform) tenantOf(t *testing.T, claimed schema.GroupVersionResource, ns string) tenant {
	t.Helper()
	claim := read(t, p.Cluster, claimed, ns).until("acme", "is ready",
		func(o *unstructured.Unstructured) bool { return condition(o, "Ready") })
	name, _, _ := unstructured.NestedString(claim.Object, "spec", "resourceRef", "name")
	composed := claimed
	composed.Resource = "x" + claimed.Resource
	made := p.composed(t, read(t, p.Cluster, composed, "").get(name))
	made.claim = claim
	return made
}

// composed gives what a composite that is ready is made of.
func (p *platform) composed(t *testing.T, composite *unstructured.Unstructured) tenant {
	t.Helper()
	name := composite.GetName()
	p.age(t, name)
	made := tenant{composite: composite, managed: read(t, p.Cluster, managed, "").list("crossplane.io/composite=" + name)}
	for _, user := range read(t, p.Cluster, users, "").list("") {
		for _, m := range made.managed {
			if of, _, _ := unstructured.NestedString(user.Object, "resourceRef", "name"); of == m.GetName() {
				made.users = append(made.users, user)
			}
		}
	}
	for _, suffix := range []string{"-settings", "-access"} {
		exists := func(*unstructured.Unstructured) bool { return true }
		made.externals = append(made.externals,
			*read(t, p.Cluster, configMaps, "external").until(name+suffix, "exists", exists))
	}
	if len(made.managed) != 2 || len(made.users) != 2 {
		t.Fatalf("the composite %s has %d managed resources, which have %d ProviderConfigUsages, and should have two and two",
			name, len(made.managed), len(made.users))
	}
	return made
}

// age makes the managed resources of a composite an hour old. A provider does not believe that an
// external resource is gone in the first 30 seconds after it created it, so the deletion of a
// younger one takes as long.
func (p *platform) age(t *testing.T, composite string) {
	t.Helper()
	created := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	for _, m := range read(t, p.Cluster, managed, "").list("crossplane.io/composite=" + composite) {
		p.Kubectl(t, "patch", "objects.kubernetes.crossplane.io", m.GetName(), "--type=merge", "-p", fmt.Sprintf(
			`{"metadata":{"annotations":{"crossplane.io/external-create-pending":%q,"crossplane.io/external-create-succeeded":%[1]q}}}`, created))
	}
}

// all gives the uids of all that there is of a tenant.
func (m tenant) all() []types.UID {
	all := []types.UID{m.claim.GetUID(), m.composite.GetUID()}
	all = append(all, uids(m.managed)...)
	all = append(all, uids(m.users)...)
	return append(all, uids(m.externals)...)
}

// composedOf gives the managed resource that the composition calls so.
func (m tenant) composedOf(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	for i := range m.managed {
		if m.managed[i].GetAnnotations()["crossplane.io/composition-resource-name"] == name {
			return &m.managed[i]
		}
	}
	t.Fatalf("the composite %s has no managed resource %s", m.composite.GetName(), name)
	return nil
}
