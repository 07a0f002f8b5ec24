package facts

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/real/record"
)

// compositeOfAClaim: a composite that is deleted while its claim lives is created again, with the
// same name, and composes new managed resources. These stand for the same config maps as the old
// ones, which take the config maps with them; so the provider creates those again too.
func compositeOfAClaim(t *testing.T, p *platform) {
	m := newTenant(t, p, "Background")
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, composites, "").delete(m.composite.GetName(),
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "the composite is made again, and the old managed resources are gone", func(h record.History) bool {
		return gone(h, m.composite.GetUID()) && gone(h, uids(m.managed)...) &&
			len(h.Of("xtenants.platform.example.org").Kinds(record.Created)) > 0
	})
	if created := h.Of("xtenants.platform.example.org").Kinds(record.Created); len(created) != 1 ||
		created[0].Name != m.composite.GetName() {
		t.Errorf("created again: %v, want one composite %s", created, m.composite.GetName())
	}
	if claim := h.About(m.claim.GetUID()).Kinds(record.Deleted, record.Gone); len(claim) > 0 {
		t.Errorf("the claim does not stay: %v", claim)
	}
	again := read(t, p.Cluster, composites, "").get(m.composite.GetName())
	if again.GetUID() == m.composite.GetUID() {
		t.Errorf("the composite %s is still the same", again.GetName())
	}

	p.age(t, again.GetName())
	if err := read(t, p.Cluster, claims, m.claim.GetNamespace()).delete("acme",
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	r.Until(t, "nothing is left of the tenant", func(h record.History) bool {
		created := h.Of("objects.kubernetes.crossplane.io").Kinds(record.Created)
		for _, e := range created {
			if !gone(h, e.UID) {
				return false
			}
		}
		return gone(h, m.claim.GetUID(), again.GetUID())
	})
}
