package facts

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
)

// providerStopped: without the provider the claim and the composite are gone all the same, and what
// was composed stays, with its config maps, for as long as the provider is away.
func providerStopped(t *testing.T, p *platform) {
	m := newTenant(t, p, "Background")
	p.provider.Kill()
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, claims, m.claim.GetNamespace()).delete("acme",
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	h := r.Until(t, "the managed resources are being deleted", func(h record.History) bool {
		return gone(h, m.claim.GetUID(), m.composite.GetUID()) && began(h, uids(m.managed)...)
	})
	for _, uid := range append(uids(m.managed), uids(m.externals)...) {
		if gone(h, uid) {
			t.Errorf("it is gone without the provider: %v", h.About(uid))
		}
	}
	for _, uid := range uids(m.managed) {
		events := h.About(uid)
		if last := events[len(events)-1]; !slices.Contains(last.Finalizers, "finalizer.managedresource.crossplane.io") {
			t.Errorf("the provider's finalizer is off without the provider: %s", last)
		}
	}
	var diagnosis v1alpha1.Diagnosis
	name := m.managed[0].GetName()
	code := plugin.JSON(t, p.Cluster, &diagnosis, "why", "objects.kubernetes.crossplane.io/"+name)
	if code != 2 || len(diagnosis.Stuck) != 1 || len(diagnosis.Stuck[0].Causes) == 0 ||
		diagnosis.Stuck[0].Causes[0].Finalizer != "finalizer.managedresource.crossplane.io" {
		t.Errorf("why %s: exit code %d, %+v, want the provider's finalizer as the cause", name, code, diagnosis.Stuck)
	}

	p.provider.Restart(t)
	r.Until(t, "the tenant is gone", func(h record.History) bool { return gone(h, m.all()...) })
}

// crossplaneStopped: if Crossplane stops while a claim is being deleted in the foreground, the
// composite goes on without it, since its own finalizer is already off, and only the claim waits
// until Crossplane is back. What holds the claim before is the managed resources.
func crossplaneStopped(t *testing.T, p *platform) {
	m := newTenant(t, p, "Foreground")
	p.provider.Kill() // so that the deletion stops half way
	r := record.Start(t, p.Config())
	if err := read(t, p.Cluster, claims, m.claim.GetNamespace()).delete("acme",
		metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	r.Until(t, "only the provider is waited for", func(h record.History) bool {
		composite := h.About(m.composite.GetUID())
		return began(h, uids(m.managed)...) && len(composite) > 0 &&
			slices.Equal(composite[len(composite)-1].Finalizers, []string{metav1.FinalizerDeleteDependents})
	})
	wantCauseIn(t, p.Cluster, uids(m.managed), "tenants.platform.example.org/acme", "-n", m.claim.GetNamespace())
	p.crossplane.Kill()
	p.provider.Restart(t)
	h := r.Until(t, "the composite is gone", func(h record.History) bool { return gone(h, m.composite.GetUID()) })
	if gone(h, m.claim.GetUID()) {
		t.Errorf("the claim is gone without Crossplane: %v", h.About(m.claim.GetUID()))
	}

	p.crossplane.Restart(t)
	h = r.Until(t, "the tenant is gone", func(h record.History) bool { return gone(h, m.all()...) })
	inOrder(t, h, stage{"composite", record.Gone, []types.UID{m.composite.GetUID()}},
		stage{"claim", record.Gone, []types.UID{m.claim.GetUID()}})
}
