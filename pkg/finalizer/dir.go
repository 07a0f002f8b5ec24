package finalizer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
)

// UserPacks returns the folder of the user's own packs, kubectl-gc/packs in the user's
// configuration directory, if it has any.
func UserPacks() ([]string, error) {
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

// LoadDir reads the packs of a directory. Each error names the file.
func LoadDir(dir string) (*Registry, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading packs: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("reading packs: %s is no directory; name the one that it is in", dir)
	}
	more, err := Load(os.DirFS(dir))
	if err == nil {
		return more, nil
	}
	var errs []error
	for _, e := range answer.Flatten(err) {
		errs = append(errs, fmt.Errorf("reading packs in %s: %w", dir, e))
	}
	return nil, errors.Join(errs...)
}
