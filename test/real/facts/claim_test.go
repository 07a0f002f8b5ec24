package facts

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/real/record"
)

// claimInTheBackground: the claim and the composite wait for nothing. The collector deletes what
// was composed when the composite is gone.
func claimInTheBackground(t *testing.T, p *platform) {
	m := newTenant(t, p, "Background")
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, claims, m.claim.GetNamespace()).delete("acme",
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "the tenant is gone", func(h record.History) bool { return gone(h, m.all()...) })

	claim, composite := []types.UID{m.claim.GetUID()}, []types.UID{m.composite.GetUID()}
	inOrder(t, h, stage{"claim", record.Deleted, claim}, stage{"composite", record.Deleted, composite},
		stage{"composite", record.Gone, composite},
		stage{"managed resources", record.Deleted, uids(m.managed)}, stage{"config maps", record.Gone, uids(m.externals)})
	inOrder(t, h, stage{"claim", record.Gone, claim}, stage{"managed resources", record.Gone, uids(m.managed)})
	eachBefore(t, h, m)
	inOrder(t, h, stage{"managed resources", record.Deleted, uids(m.managed)},
		stage{"ProviderConfigUsages", record.Gone, uids(m.users)})
}

// claimInTheForeground: no composite is gone before what it composed, and the claim is the last of
// all.
func claimInTheForeground(t *testing.T, p *platform) {
	m := newTenant(t, p, "Foreground")
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, claims, m.claim.GetNamespace()).delete("acme",
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "the tenant is gone", func(h record.History) bool { return gone(h, m.all()...) })

	claim, composite := []types.UID{m.claim.GetUID()}, []types.UID{m.composite.GetUID()}
	inOrder(t, h, stage{"claim", record.Deleted, claim}, stage{"composite", record.Deleted, composite},
		stage{"managed resources", record.Deleted, uids(m.managed)},
		stage{"managed resources", record.Gone, uids(m.managed)}, stage{"composite", record.Gone, composite},
		stage{"claim", record.Gone, claim})
	// Foreground deletion goes down to the ProviderConfigUsages, which nothing keeps: they are gone
	// before the provider has done its part.
	inOrder(t, h, stage{"ProviderConfigUsages", record.Gone, uids(m.users)},
		stage{"managed resources", record.Gone, uids(m.managed)})
	eachBefore(t, h, m)
	if began := h.About(m.composite.GetUID()).Kinds(record.Deleted)[0]; !slices.Contains(began.Finalizers,
		metav1.FinalizerDeleteDependents) {
		t.Errorf("the composite is not deleted in the foreground: %s", began)
	}
}

// eachBefore tests that no managed resource is gone before the config map that it stands for: the
// provider keeps it until then.
func eachBefore(t *testing.T, h record.History, m tenant) {
	t.Helper()
	for i, name := range []string{"settings", "access"} {
		inOrder(t, h, stage{"config map", record.Gone, []types.UID{m.externals[i].GetUID()}},
			stage{"managed resource", record.Gone, []types.UID{m.composedOf(t, name).GetUID()}})
	}
}
