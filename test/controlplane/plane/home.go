package plane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/process"
)

// The processes of a control plane, by the names of their logs and records.
const (
	supervisor  = "supervisor"
	etcd        = "etcd"
	apiserver   = "apiserver"
	controllers = "controllers"
)

// marker is the file that says that a directory is a control plane's. It is also the lock that
// keeps two commands from working on one directory at a time.
const marker = ".controlplane"

// home is the directory of one control plane.
type home string

func at(dir string) (home, error) {
	if dir == "" {
		return "", errors.New("no directory given: say --dir DIR")
	}
	absolute, err := filepath.Abs(dir)
	return home(absolute), err
}

func (h home) path(name string) string   { return filepath.Join(string(h), name) }
func (h home) kubeconfig() string        { return h.path("kubeconfig") }
func (h home) log(name string) string    { return h.path(name + ".log") }
func (h home) state(name string) string  { return filepath.Join(h.path("state"), name) }
func (h home) record(name string) string { return h.state(name + ".pid") }

// claim makes the directory a control plane's and locks it until release. It refuses a directory
// that holds anything else, because what a control plane leaves is removed without asking.
func (h home) claim(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(string(h), 0o700); err != nil {
		return nil, fmt.Errorf("making the control plane's directory: %w", err)
	}
	if _, err := os.Stat(h.path(marker)); errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(string(h))
		if err != nil {
			return nil, fmt.Errorf("reading the control plane's directory: %w", err)
		}
		if len(entries) > 0 {
			return nil, fmt.Errorf("%s holds files that are not a control plane's: name an empty or a new directory", h)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		release, err := process.Hold(h.path(marker))
		if !errors.Is(err, process.ErrHeld) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another command is at work in %s: try again when it has ended", h)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// claimed reports whether the directory is a control plane's.
func (h home) claimed() bool {
	_, err := os.Stat(h.path(marker))
	return err == nil
}

// supervised returns an error unless a control plane runs in the directory.
func (h home) supervised() error {
	if !process.Alive(h.record(supervisor)) {
		return fmt.Errorf("no control plane runs in %s: start one with controlplane up --dir %s", h, h)
	}
	return nil
}

// takeOver claims the directory, stops what runs in it and leaves it with nothing but an empty
// state.
func (h home) takeOver(ctx context.Context) (release func(), err error) {
	release, err = h.claim(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(h.stopAll(ctx), h.clear(), os.Mkdir(h.path("state"), 0o700)); err != nil {
		release()
		return nil, fmt.Errorf("clearing %s: %w", h, err)
	}
	return release, nil
}

// stopAll stops the supervisor, which stops its own, and then what it may have left.
func (h home) stopAll(ctx context.Context) error {
	if err := process.Stop(ctx, h.record(supervisor), 10*time.Second); err != nil {
		return err
	}
	return h.stopComponents(ctx)
}

// stopComponents kills the components. What they hold is thrown away with them, and the API server
// would take long to end by itself.
func (h home) stopComponents(ctx context.Context) error {
	errs := []error{h.stopControllers(ctx)}
	for _, name := range []string{apiserver, etcd} {
		errs = append(errs, process.Stop(ctx, h.record(name), 0))
	}
	return errors.Join(errs...)
}

// clear removes everything but the marker.
func (h home) clear() error {
	errs := []error{os.RemoveAll(h.kubeconfig()), os.RemoveAll(h.path("state"))}
	for _, name := range []string{supervisor, etcd, apiserver, controllers} {
		errs = append(errs, os.RemoveAll(h.log(name)))
	}
	return errors.Join(errs...)
}
