package env

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// AddPacks adds --packs. What is read there is part of what Known returns.
func (e *Env) AddPacks(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&e.Packs, "packs", nil, "Directory with more packs (*.yaml) of known finalizers and links; can be repeated")
	cmd.MarkFlagDirname("packs")
}

// CheckPacks reads the packs if any were named, so that what is wrong with them is found before anything is asked of the server.
func (e *Env) CheckPacks() error {
	if len(e.Packs) == 0 {
		return nil
	}
	_, err := e.Known()
	return err
}

// Known returns what is known of finalizers. It is read once, which takes tens of milliseconds, so that only a command that needs it asks.
func (e *Env) Known() (*finalizer.Registry, error) { return e.known() }

// loadKnown reads the packs that come with the plugin, then the user's own, then those of --packs. What is read later counts.
func (e *Env) loadKnown() (*finalizer.Registry, error) {
	packs, err := plugins.Packs()
	if err != nil {
		return nil, err
	}
	known, err := finalizer.Load(packs)
	if err != nil {
		return nil, err
	}
	own, err := finalizer.UserPacks()
	if err != nil {
		return nil, err
	}
	for _, dir := range append(own, e.Packs...) {
		more, err := finalizer.LoadDir(dir)
		if err != nil {
			return nil, err
		}
		known = known.With(more)
	}
	return known, nil
}
