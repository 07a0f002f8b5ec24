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
		absolute, err := filepath.Abs(*b.path)
		if err != nil {
			return err
		}
		*b.path = absolute
		if _, err := os.Stat(absolute); err == nil {
			continue
		}
		say("building %s, which can take minutes", absolute)
		cmd := exec.CommandContext(ctx, "go", "build", "-o", absolute, b.directory)
		cmd.Dir = b.module
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("building %s in %s: %w; run bench in the root of the repository", b.directory, b.module, err)
		}
	}
	return nil
}
