package facts

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/real/record"
)

// providerConfig: one that is in use is not gone before the last ProviderConfigUsage is.
func providerConfig(t *testing.T, p *platform) {
	m := newTenant(t, p, "Background")
	config := read(t, p.Cluster, configs, "").get("self")
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, configs, "").delete("self", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Apply(t, systemManifest) })
	if h := r.Settle(t); h.When(config.GetUID(), record.Deleted) == 0 || gone(h, config.GetUID()) {
		t.Errorf("the ProviderConfig in use is not being deleted: %v", h.About(config.GetUID()))
	}
	if err := read(t, p.Cluster, claims, m.claim.GetNamespace()).delete("acme",
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "the tenant and the ProviderConfig are gone",
		func(h record.History) bool { return gone(h, append(m.all(), config.GetUID())...) })
	inOrder(t, h, stage{"managed resources", record.Gone, uids(m.managed)},
		stage{"ProviderConfig", record.Gone, []types.UID{config.GetUID()}})
	inOrder(t, h, stage{"ProviderConfigUsages", record.Gone, uids(m.users)},
		stage{"ProviderConfig", record.Gone, []types.UID{config.GetUID()}})
}
