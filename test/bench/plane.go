package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// plane is the cluster that is measured.
type plane struct {
	kubeconfig string
	// stays is true for one that outlives the benchmark, which has to leave it as it was loaded.
	stays bool
	end   func() error
}

// openPlane starts a control plane and loads it, or takes the one that the flags name.
func openPlane(ctx context.Context, o options) (*plane, error) {
	if o.kubeconfig != "" {
		absolute, err := filepath.Abs(o.kubeconfig)
		return &plane{kubeconfig: absolute, stays: true, end: func() error { return nil }}, err
	}
	p, err := startPlane(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := load(ctx, p.kubeconfig, o); err != nil {
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

// startPlane starts a control plane without controllers.
func startPlane(ctx context.Context, o options) (*plane, error) {
	dir, err := os.MkdirTemp("", "kubectl-gc-bench-")
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, "controlplane")
	p := &plane{kubeconfig: filepath.Join(home, "kubeconfig"), stays: o.keep}
	p.end = func() error {
		// It has to go when the benchmark was interrupted, too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return errors.Join(controlplane(ctx, o, "down", "--dir", home), os.RemoveAll(dir))
	}
	say("starting a control plane in %s", home)
	if err := controlplane(ctx, o, "up", "--dir", home, "--controllers", "none"); err != nil {
		return nil, errors.Join(err, p.end())
	}
	if o.keep {
		p.end = func() error {
			say("the control plane stays:\n  go run ./test/bench -kubeconfig %s\n  %s down --dir %s", p.kubeconfig,
				o.controlplane, home)
			return nil
		}
	}
	return p, nil
}

func controlplane(ctx context.Context, o options, args ...string) error {
	cmd := exec.CommandContext(ctx, o.controlplane, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s %s: %w", o.controlplane, args[0], err)
	}
	return nil
}
