package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// binaries builds what is missing and makes the paths absolute.
func (o *options) binaries(ctx context.Context) error {
	for _, b := range []struct {
		path              *string
		module, directory string
	}{
		{&o.plugin, ".", "./cmd/kubectl-gc"},
		{&o.controlplane, "test/controlplane", "."},
		{&o.kubectl, "test/controlplane", "./cmd-kubectl"},
	} {
		if err := build(ctx, b.path, b.module, b.directory); err != nil {
			return err
		}
	}
	return nil
}

// build builds a program if it is missing, and makes its path absolute.
func build(ctx context.Context, path *string, module, directory string) error {
	absolute, err := filepath.Abs(*path)
	if err != nil {
		return err
	}
	*path = absolute
	if _, err := os.Stat(absolute); err == nil {
		return nil
	}
	say("building %s, which can take minutes", absolute)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", absolute, directory)
	cmd.Dir = module
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building %s in %s: %w; run bench in the root of the repository", directory, module, err)
	}
	return nil
}
