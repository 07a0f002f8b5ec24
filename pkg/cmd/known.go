package cmd

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// loadKnown reads what is known of finalizers. It takes tens of milliseconds, so that only a command that needs it asks, and
// through common.known, which remembers.
func loadKnown() (*finalizer.Registry, error) {
	packs, err := plugins.Packs()
	if err != nil {
		return nil, err
	}
	return finalizer.Load(packs)
}
