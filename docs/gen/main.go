// Command gen writes the reference of the commands into a folder, removes the pages of commands that are gone, and writes
// the pages of what is known of finalizers, of the causes of stuck deletions, and of those that are rebuilt as tests.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/plugins"
	"github.com/kubectl-gc/kubectl-gc/test/stuck"
)

func main() {
	if len(os.Args) != 2 && len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: gen DIRECTORY [FINALIZERS CAUSES STUCK]")
		os.Exit(1)
	}
	err := reference(os.Args[1])
	if err == nil && len(os.Args) == 5 {
		err = errors.Join(finalizers(os.Args[2]), causes(os.Args[3]), cases(os.Args[4]))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: writing the documentation: %v\n", err)
		os.Exit(1)
	}
}

func reference(dir string) error {
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

func finalizers(file string) error {
	packs, err := plugins.Packs()
	if err != nil {
		return err
	}
	known, err := finalizer.Load(packs)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(docs.Finalizers(known.Packs())), 0o644)
}

func causes(file string) error {
	return os.WriteFile(file, []byte(docs.Causes()), 0o644)
}

func cases(file string) error {
	cases, err := stuck.Cases(os.DirFS(filepath.Join("test", "stuck", "testdata")))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(docs.Stuck(cases)), 0o644)
}
