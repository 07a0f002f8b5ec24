package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
)

// claimByThePlugin: the plan names what then goes, and kubectl gc delete returns when all of that
// is gone. The config maps are the provider's affair: no reference and no link leads to them.
func claimByThePlugin(t *testing.T, p *platform) {
	m := newTenant(t, p, "Background")
	claim, ns := "tenants.platform.example.org/acme", m.claim.GetNamespace()
	plan := planned(t, p.Cluster, claim, "-n", ns)
	tree := shown(t, p.Cluster, claim, "-n", ns)
	r := record.Start(t, p.Config())
	if a := plugin.Run(t, p.Cluster, "delete", claim, "-n", ns, "--yes", "--timeout=2m"); a.Code != 0 {
		t.Fatalf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
	h := r.Settle(t)
	byPlan := went(ofTenant(h))
	if !slices.Equal(plan, byPlan) || !slices.Equal(tree, byPlan) {
		t.Errorf("the plan deletes %v and the tree shows %v, and %v are gone", plan, tree, byPlan)
	}
	if !gone(h, append(uids(m.managed), m.claim.GetUID(), m.composite.GetUID())...) {
		t.Errorf("the command ended before all was gone: %v", h)
	}
}

// claimInTheForegroundByThePlugin: with --cascade=foreground no composite is gone before what it
// composed, and the claim is the last of all, although nobody has said so in the claim.
func claimInTheForegroundByThePlugin(t *testing.T, p *platform) {
	for _, strict := range []bool{false, true} {
		m := newTenant(t, p, "Background")
		claim, ns := "tenants.platform.example.org/acme", m.claim.GetNamespace()
		args := []string{claim, "-n", ns, "--cascade=foreground"}
		if strict {
			for _, r := range m.managed {
				p.Kubectl(t, "patch", "objects.kubernetes.crossplane.io", r.GetName(), "--type=json", "-p",
					`[{"op": "replace", "path": "/metadata/ownerReferences/0/blockOwnerDeletion", "value": false}]`)
			}
			args = append(args, "--strict")
		}
		plan := planned(t, p.Cluster, args...)
		r := record.Start(t, p.Config())
		a := plugin.Run(t, p.Cluster, append([]string{"delete", "--yes", "--timeout=2m"}, args...)...)
		if a.Code != 0 {
			t.Fatalf("strict %t: exit code %d\n%s%s", strict, a.Code, a.Stdout, a.Stderr)
		}
		h := r.Settle(t)
		if byPlan := went(ofTenant(h)); !slices.Equal(plan, byPlan) {
			t.Errorf("strict %t: the plan deletes %v, and %v are gone", strict, plan, byPlan)
		}
		composite := []types.UID{m.composite.GetUID()}
		inOrder(t, h, stage{"managed resources", record.Gone, uids(m.managed)}, stage{"composite", record.Gone, composite},
			stage{"claim", record.Gone, []types.UID{m.claim.GetUID()}})
	}
}

// claimBoundElsewhere: Crossplane does not act on the deletion of a claim whose composite is bound
// to another one, and kubectl gc refuses to begin it.
func claimBoundElsewhere(t *testing.T, p *platform) {
	m := newTenant(t, p, "Background")
	ns := m.claim.GetNamespace()
	p.Apply(t, fmt.Sprintf(`
apiVersion: platform.example.org/v1
kind: Tenant
metadata: {name: other, finalizers: [finalizer.apiextensions.crossplane.io]}
spec: {size: small, resourceRef: {apiVersion: platform.example.org/v1, kind: XTenant, name: %s}}
`, m.composite.GetName()), "-n", ns)
	other := read(t, p.Cluster, claims, ns).get("other")
	a := plugin.Run(t, p.Cluster, "delete", "tenants.platform.example.org/other", "-n", ns, "--yes", "--timeout=1m")
	if a.Code != 2 || !strings.Contains(a.Stderr, "is bound to Tenant "+ns+"/acme") {
		t.Errorf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, claims, ns).delete("other", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	if h := r.Settle(t); gone(h, other.GetUID()) || h.When(m.composite.GetUID(), record.Deleted) != 0 {
		t.Errorf("Crossplane acts on it: %v, %v", h.About(other.GetUID()), h.About(m.composite.GetUID()))
	}
	p.Kubectl(t, "patch", "tenants.platform.example.org", "other", "-n", ns, "--type=merge", "-p",
		`{"metadata":{"finalizers":null}}`)
	if a := plugin.Run(t, p.Cluster, "delete", "tenants.platform.example.org/acme", "-n", ns, "--yes",
		"--timeout=2m"); a.Code != 0 {
		t.Fatalf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
}

// namespaceByThePlugin: with a namespace go the composites of its claims, and what these compose.
func namespaceByThePlugin(t *testing.T, p *platform) {
	m := newTenant(t, p, "Background")
	plan := planned(t, p.Cluster, "namespace/"+m.claim.GetNamespace())
	for _, uid := range append(uids(m.managed), m.claim.GetUID(), m.composite.GetUID()) {
		if !slices.Contains(plan, uid) {
			t.Errorf("the plan of the namespace does not delete %s", uid)
		}
	}
	if a := plugin.Run(t, p.Cluster, "delete", "namespace/"+m.claim.GetNamespace(), "--yes", "--timeout=2m"); a.Code != 0 {
		t.Fatalf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
}

// compositeOfAClaimByThePlugin: the plan says that it comes back.
func compositeOfAClaimByThePlugin(t *testing.T, p *platform) {
	m := newTenant(t, p, "Background")
	var plan v1alpha1.Plan
	if code := plugin.JSON(t, p.Cluster, &plan, "delete", "xtenants.platform.example.org/"+m.composite.GetName(),
		"--dry-run=client"); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var back []string
	for _, r := range plan.Recreated {
		back = append(back, fmt.Sprintf("%s %s by %s of %s", r.Object.Kind, r.Object.Name, r.Program, r.Owner.Kind))
	}
	if want := "XTenant " + m.composite.GetName() + " by Crossplane of Tenant"; strings.Join(back, ", ") != want {
		t.Errorf("recreated %v, want %s", back, want)
	}
	claim := "tenants.platform.example.org/acme"
	if a := plugin.Run(t, p.Cluster, "delete", claim, "-n", m.claim.GetNamespace(), "--yes", "--timeout=2m"); a.Code != 0 {
		t.Fatalf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
}

// ofTenant leaves of a history what belongs to a claim in the cluster, and not what its provider
// manages elsewhere.
func ofTenant(h record.History) record.History {
	return ofOld(h, "tenants.platform.example.org", "xtenants.platform.example.org", "objects.kubernetes.crossplane.io",
		"providerconfigusages.kubernetes.crossplane.io")
}

// ofOld leaves of a history what is of some types and was there before it: the provider makes
// ProviderConfigUsages again that the collector has deleted in the foreground, for as long as it
// has work to do, and Crossplane a composite that was deleted before its claim.
func ofOld(h record.History, types ...string) record.History {
	var all record.History
	for _, t := range types {
		all = append(all, h.Of(t)...)
	}
	return slices.DeleteFunc(all, func(e record.Event) bool { return h.When(e.UID, record.Created) != 0 })
}
