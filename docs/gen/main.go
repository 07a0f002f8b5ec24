// Command gen writes the generated parts of the documentation.
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

// It is run from the top of the repository.
func main() {
	if len(os.Args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen")
		os.Exit(1)
	}
	err := errors.Join(reference("docs/cli"), finalizers("docs/finalizers.md"), causes("docs/causes.md"),
		findings("docs/findings.md"), cases("docs/stuck.md"), safety("docs/safety.md"), transcripts("README.md", "docs/*.md"),
		pictures("docs/images", "README.md", "docs/*.md"), packages("docs/CONTRIBUTING.md"), rowSchema("docs/row.schema.json"))
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

func safety(file string) error {
	text, err := docs.Safety(".")
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func findings(file string) error {
	return os.WriteFile(file, []byte(docs.Findings()), 0o644)
}

func cases(file string) error {
	cases, err := stuck.Cases(os.DirFS(filepath.Join("test", "stuck", "testdata")))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(docs.Stuck(cases)), 0o644)
}

// transcripts writes the transcripts into the pages that show them.
func transcripts(patterns ...string) error {
	all, err := docs.Transcripts(os.DirFS(filepath.Join("test", "e2e", "testdata", "docs")))
	if err != nil {
		return err
	}
	var errs []error
	for _, pattern := range patterns {
		pages, err := filepath.Glob(pattern)
		errs = append(errs, err)
		for _, page := range pages {
			errs = append(errs, rewrite(page, func(text string) (string, error) { return docs.WithTranscripts(text, all) }))
			images, err := filepath.Rel(filepath.Dir(page), filepath.Join("docs", "images"))
			errs = append(errs, err, rewrite(page,
				func(text string) (string, error) { return docs.WithPictures(text, filepath.ToSlash(images), all) }))
		}
	}
	return errors.Join(errs...)
}

// pictures draws what the pages show of the transcripts, and removes pictures that none shows.
func pictures(dir string, patterns ...string) error {
	all, err := docs.Transcripts(os.DirFS(filepath.Join("test", "e2e", "testdata", "docs")))
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	errs := []error{err}
	for _, file := range old {
		errs = append(errs, os.Remove(file))
	}
	var pages []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		errs = append(errs, err)
		for _, file := range files {
			page, err := os.ReadFile(file)
			pages, errs = append(pages, string(page)), append(errs, err)
		}
	}
	drawn, err := docs.Pictures(all, pages...)
	errs = append(errs, err, os.MkdirAll(dir, 0o755))
	for _, p := range drawn {
		errs = append(errs, os.WriteFile(filepath.Join(dir, p.File), []byte(p.Text), 0o644))
	}
	return errors.Join(errs...)
}

// packages writes the map of packages into a page.
func packages(page string) error {
	all, err := docs.Packages(os.DirFS("."))
	if err != nil {
		return err
	}
	return rewrite(page, func(text string) (string, error) { return docs.WithPackages(text, all), nil })
}

// rewrite changes a file if there is something to change.
func rewrite(path string, change func(string) (string, error)) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := change(string(old))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if text == string(old) {
		return nil
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func rowSchema(file string) error {
	schema, err := docs.RowSchema()
	if err != nil {
		return err
	}
	return os.WriteFile(file, schema, 0o644)
}
