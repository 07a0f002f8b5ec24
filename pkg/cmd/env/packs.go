package env

import (
	"sync"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// AddPacks adds --packs. What is read there is part of what Known returns.
func (e *Env) AddPacks(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&e.Packs, "packs", nil,
		"Directory with more packs (*.yaml) of known finalizers and links; can be repeated")
	cmd.MarkFlagDirname("packs")
}

// CheckPacks reads the packs if any were named, so that what is wrong with them is found before
// anything is asked of the server.
func (e *Env) CheckPacks() error {
	if len(e.Packs) == 0 {
		return nil
	}
	_, err := e.own()
	return err
}

// Known returns what is known of finalizers. It is read once, which takes ten milliseconds and
// more, so that only a command that needs it asks.
func (e *Env) Known() (*finalizer.Registry, error) { return e.known() }

// Links returns the links of packs. They are read once, in much less time than all that is known.
func (e *Env) Links() ([]*link.Definition, error) { return e.links() }

// The packs that come with the plugin are read once in a process, and nobody changes them. Where one
// runs many commands, reading them each time was a fifth of the work (test/faults).
var (
	shipped      = sync.OnceValues(func() (*finalizer.Registry, error) { return finalizer.Read(plugins.Known) })
	shippedLinks = sync.OnceValues(func() (*finalizer.Registry, error) { return finalizer.Read(plugins.Links) })
)

// readPacks reads what is known once somebody asks for it.
func (e *Env) readPacks() {
	e.own = sync.OnceValues(e.loadOwn)
	e.known = sync.OnceValues(func() (*finalizer.Registry, error) { return e.with(shipped) })
	e.links = sync.OnceValues(func() ([]*link.Definition, error) {
		known, err := e.with(shippedLinks)
		if err != nil {
			return nil, err
		}
		return known.Links(), nil
	})
}

// with adds the packs of the user to those that come with the plugin. What is read later counts.
func (e *Env) with(packs func() (*finalizer.Registry, error)) (*finalizer.Registry, error) {
	known, err := packs()
	if err != nil {
		return nil, err
	}
	own, err := e.own()
	if err != nil {
		return nil, err
	}
	return known.With(own), nil
}

// loadOwn reads the user's own packs, then those of --packs.
func (e *Env) loadOwn() (*finalizer.Registry, error) {
	dirs, err := finalizer.UserPacks()
	if err != nil {
		return nil, err
	}
	own := &finalizer.Registry{}
	for _, dir := range append(dirs, e.Packs...) {
		more, err := finalizer.LoadDir(dir)
		if err != nil {
			return nil, err
		}
		own = own.With(more)
	}
	return own, nil
}
