package plan

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestNameThatARunIsAgreedToBy is that of the claim whose disk goes, though its finalizer, which
// goes by itself, is not the run's to remove.
func TestNameThatARunIsAgreedToBy(t *testing.T) {
	s := newSmall(t)
	s.add(configMaps, "other", to(configMaps, "nobody"))
	s.add(claims, "claim", to(configMaps, "nobody")).Finalizers = []string{"kubernetes.io/pvc-protection"}
	s.add(claims, "stays")
	p := s.run(Options{})
	if got := names(p.Graph, p.PVCs()); got != "claim" {
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
