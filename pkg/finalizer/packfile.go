package finalizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// packFile is a pack as Write writes it.
type packFile struct {
	File       string            `json:"file"`
	Title      string            `json:"title"`
	Components map[string]Alive  `json:"components,omitempty"`
	Finalizers []Known           `json:"finalizers,omitempty"`
	Links      []link.Definition `json:"links,omitempty"`
	Pruners    []link.Pruner     `json:"pruners,omitempty"`
}

// Write writes what is known as JSON. Reading that takes a fifth of the time that Load takes to
// read and check YAML, and commands are run many times a day.
func (r *Registry) Write() ([]byte, error) {
	var files []packFile
	for _, pack := range r.Packs() {
		f := packFile{File: pack.File, Title: pack.Title, Finalizers: pack.Finalizers, Links: pack.Links,
			Pruners: pack.Pruners, Components: map[string]Alive{}}
		for _, k := range pack.Finalizers {
			f.Components[k.Component] = k.Alive
		}
		files = append(files, f)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(files)
	return out.Bytes(), err
}

// LinksOnly returns the packs that have links, with nothing else. Written, they are read in a
// millisecond.
func (r *Registry) LinksOnly() *Registry {
	var packs []Pack
	for _, pack := range r.Packs() {
		if len(pack.Links) > 0 {
			packs = append(packs, Pack{File: pack.File, Title: pack.Title, Links: pack.Links})
		}
	}
	return newRegistry(packs)
}

// Read reads what Write wrote. Nothing is checked again.
func Read(data []byte) (*Registry, error) {
	var files []packFile
	if err := json.Unmarshal(data, &files); err != nil {
		return nil, fmt.Errorf("reading packs: %w", err)
	}
	packs := make([]Pack, len(files))
	for i, f := range files {
		for j := range f.Finalizers {
			k := &f.Finalizers[j]
			k.Pack, k.Alive, k.Frees = f.Title, f.Components[k.Component], f.Components[k.FreedBy]
			if k.Regex == "" {
				continue
			}
			var err error
			if k.regex, err = regexp.Compile(k.Regex); err != nil {
				return nil, fmt.Errorf("reading packs: entry %s: %w", k.ID, err)
			}
		}
		for j := range f.Links {
			f.Links[j].Pack = f.Title
		}
		packs[i] = Pack{File: f.File, Title: f.Title, Finalizers: f.Finalizers, Links: f.Links, Pruners: f.Pruners}
	}
	return newRegistry(packs), nil
}

// lineError is a problem of one entry of a file.
type lineError struct {
	// line is where the entry begins, from 1; 0 if that is not known.
	line int
	err  error
}

func at(line int, err error) error { return &lineError{line, err} }

func (e *lineError) Error() string { return e.err.Error() }

func (e *lineError) Unwrap() error { return e.err }

// inFile names the file before a problem, and the line if it is known.
func inFile(name string, problem error) error {
	var located *lineError
	if errors.As(problem, &located) && located.line > 0 {
		return fmt.Errorf("%s:%d: %w", name, located.line, problem)
	}
	return fmt.Errorf("%s: %w", name, problem)
}

// lineOf returns the line on which an item of a list at the top of a file begins, 0 if it cannot be
// found. The decoder that fills in the entries reads JSON, which has lost it.
func lineOf(data []byte, list string, item int) int {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil || len(document.Content) == 0 {
		return 0
	}
	top := document.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if items := top[i+1].Content; top[i].Value == list && item < len(items) {
			return items[item].Line
		}
	}
	return 0
}

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
