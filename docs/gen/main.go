// Command gen writes the reference of the commands into a folder, and removes the pages of commands that are gone.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen DIRECTORY")
		os.Exit(1)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "error: writing the reference: %v\n", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	old, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, page := range docs.Reference(cmd.NewRoot(genericiooptions.NewTestIOStreamsDiscard())) {
		if err := os.WriteFile(filepath.Join(dir, page.File), []byte(page.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
