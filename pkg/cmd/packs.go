package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

// addPacks adds --packs. What is read there is part of what known returns.
func (c *common) addPacks(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.packs, "packs", nil, "Directory with more packs: what is known of finalizers, in files *.yaml. Can be given several times")
	cmd.MarkFlagDirname("packs")
}

// checkPacks reads the packs if any were named, so that what is wrong with them is found before anything is asked of the server.
func (c *common) checkPacks() error {
	if len(c.packs) == 0 {
		return nil
	}
	_, err := c.known()
	return err
}

// loadKnown reads what is known of finalizers: the packs that come with the plugin, then the user's own, then those of --packs; what is
// read later counts. It takes tens of milliseconds, so that only a command that needs it asks, and through common.known, which remembers.
func (c *common) loadKnown() (*finalizer.Registry, error) {
	packs, err := plugins.Packs()
	if err != nil {
		return nil, err
	}
	known, err := finalizer.Load(packs)
	if err != nil {
		return nil, err
	}
	own, err := ownPacks()
	if err != nil {
		return nil, err
	}
	for _, dir := range append(own, c.packs...) {
		more, err := loadPacks(dir)
		if err != nil {
			return nil, err
		}
		known = known.With(more)
	}
	return known, nil
}

// ownPacks returns the folder of the user's own packs, kubectl-gc/packs in the user's configuration directory, if it has any.
func ownPacks() ([]string, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, nil // without a home there are none
	}
	dir := filepath.Join(config, "kubectl-gc", "packs")
	files, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading packs: %w", err)
	}
	for _, f := range files {
		if name := f.Name(); strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
			return []string{dir}, nil
		}
	}
	return nil, nil
}

// loadPacks reads one folder. Each error names the file.
func loadPacks(dir string) (*finalizer.Registry, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading packs: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("reading packs: %s is no directory; name the one that it is in", dir)
	}
	more, err := finalizer.Load(os.DirFS(dir))
	if err == nil {
		return more, nil
	}
	var errs []error
	for _, e := range flatten(err) {
		errs = append(errs, fmt.Errorf("reading packs in %s: %w", dir, e))
	}
	return nil, errors.Join(errs...)
}
