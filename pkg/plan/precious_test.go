package plan

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestNameThatARunIsAgreedToBy is that of the claim whose disk goes, though its finalizer, or that of
// its owner, is not the run's to remove: the delete that is sent cannot be taken back.
func TestNameThatARunIsAgreedToBy(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "other", to(configMaps, "nobody"))
	s.add(claims, "claim", to(configMaps, "nobody")).Finalizers = []string{"kubernetes.io/pvc-protection"}
	s.add(claims, "stays")
	s.add(configMaps, "held", to(configMaps, "nobody")).Finalizers = []string{"example.com/hold"}
	s.add(claims, "later", to(configMaps, "held"))
	p := s.run(Options{})
	if got := names(p.Graph, p.Released().PVCs()); got != "claim later" {
		t.Errorf("claims that go: %s", got)
	}
	if got := p.Precious(); got != "" {
		t.Errorf("asks for the name %s, and no disk goes", got)
	}
	p.Disks = []v1alpha1.Disk{{}}
	if got := p.Precious(); got != "claim" {
		t.Errorf("asks for the name %q, want claim", got)
	}
}
