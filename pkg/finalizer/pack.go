package finalizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Pack is what is known of one ecosystem.
type Pack struct {
	// File is the name of its file, without the folder.
	File string
	// Title is what the ecosystem is called.
	Title string
	// Finalizers are its entries, in the order of the file.
	Finalizers []Known
	// Links are what it knows of ownership that ownerReferences do not record, in the order of the
	// file.
	Links []link.Definition
	// Pruners are what it knows of programs that delete what their source no longer has.
	Pruners []link.Pruner
}

// file is a pack as it is written. Its parts are decoded one by one, so that an error can name the
// part.
type file struct {
	Title      string                     `json:"title"`
	Components map[string]json.RawMessage `json:"components"`
	Finalizers []json.RawMessage          `json:"finalizers"`
	Links      []json.RawMessage          `json:"links"`
	Pruners    []json.RawMessage          `json:"pruners"`
}

// Load reads the packs of a folder: its files *.yaml and *.yml. It is strict. An error names all
// that is wrong: the file, the entry, and what to do about it; no part of the folder is used then.
// The file system has to be safe for concurrent use.
func Load(fsys fs.FS) (*Registry, error) {
	names, err := list(fsys)
	if err != nil {
		return nil, err
	}
	packs, problems := make([]Pack, len(names)), make([][]error, len(names))
	var parsing sync.WaitGroup
	for i, name := range names {
		parsing.Go(func() {
			data, err := fs.ReadFile(fsys, name)
			if err != nil {
				problems[i] = []error{err}
				return
			}
			packs[i], problems[i] = parse(name, data)
			for j, problem := range problems[i] {
				problems[i][j] = inFile(name, problem)
			}
		})
	}
	parsing.Wait()
	errs := slices.Concat(problems...)
	if errs = append(errs, duplicates(packs)...); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return newRegistry(packs), nil
}

func list(fsys fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("listing packs: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); !entry.IsDir() && (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("no pack found: a pack is a file *.yaml")
	}
	return names, nil
}

func parse(name string, data []byte) (Pack, []error) {
	asJSON, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return Pack{}, []error{err}
	}
	var f file
	if errs := decode(asJSON, &f, ""); len(errs) > 0 {
		return Pack{}, errs
	}
	p := Pack{File: name, Title: f.Title}
	var errs []error
	if err := text("title", f.Title); err != nil {
		errs = append(errs, err)
	}
	if len(f.Finalizers)+len(f.Links)+len(f.Pruners) == 0 {
		errs = append(errs, errors.New(`"finalizers", "links" and "pruners" are empty: list what is known`))
	}
	components, problems := f.components()
	errs = append(errs, problems...)
	used := map[string]bool{}
	for i, raw := range f.Finalizers {
		k, problems := entry(raw, components)
		k.Pack, used[k.Component] = f.Title, true
		for _, problem := range problems {
			errs = append(errs, at(lineOf(data, "finalizers", i), fmt.Errorf("entry %d (%q): %w", i+1, k.ID, problem)))
		}
		p.Finalizers = append(p.Finalizers, k)
	}
	for i, raw := range f.Links {
		d, problems := linkEntry(raw)
		d.Pack = f.Title
		for _, problem := range problems {
			errs = append(errs, at(lineOf(data, "links", i), fmt.Errorf("link %d (%q): %w", i+1, d.ID, problem)))
		}
		p.Links = append(p.Links, d)
	}
	for i, raw := range f.Pruners {
		var of link.Pruner
		problems := decode(raw, &of, listsKeys)
		if len(problems) == 0 {
			problems = of.Check()
		}
		for _, problem := range problems {
			errs = append(errs, at(lineOf(data, "pruners", i), fmt.Errorf("pruner %d (%q): %w", i+1, of.ID, problem)))
		}
		p.Pruners = append(p.Pruners, of)
	}
	for _, name := range slices.Sorted(maps.Keys(components)) {
		if !used[name] {
			errs = append(errs, fmt.Errorf("component %q: no entry names it: remove it, or name it in one", name))
		}
	}
	return p, errs
}

func (f file) components() (map[string]Alive, []error) {
	components := map[string]Alive{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(f.Components)) {
		var alive Alive
		problems := decode(f.Components[name], &alive, "")
		if len(problems) == 0 {
			problems = alive.check()
		}
		for _, problem := range problems {
			errs = append(errs, fmt.Errorf("component %q: %w", name, problem))
		}
		components[name] = alive
	}
	return components, errs
}

// listsKeys says where the keys of a part can be read.
const listsKeys = "docs/packs.md lists the keys"

func entry(raw json.RawMessage, components map[string]Alive) (Known, []error) {
	var k Known
	if errs := decode(raw, &k, listsKeys); len(errs) > 0 {
		return k, errs
	}
	alive, found := components[k.Component]
	if k.Component != "" && !found {
		return k, []error{fmt.Errorf(`component %q is not among the pack's "components": add it there`, k.Component)}
	}
	if k.Frees, found = components[k.FreedBy]; k.FreedBy != "" && (!found || len(k.Needs) == 0) {
		return k, []error{fmt.Errorf(`"freedBy" is %q: name one of the pack's "components", and what it is that goes in "needs"`, k.FreedBy)}
	}
	k.Alive = alive
	if k.Actor == "" {
		k.Actor = k.Component
	}
	if k.Field == "" {
		k.Field = InMetadata
	}
	return k, k.check()
}

func linkEntry(raw json.RawMessage) (link.Definition, []error) {
	var d link.Definition
	if errs := decode(raw, &d, listsKeys); len(errs) > 0 {
		return d, errs
	}
	return d, d.Check()
}

// decode is strict: of unknown keys, of keys that are there twice and of their case.
func decode(data []byte, into any, hint string) []error {
	strict, err := kjson.UnmarshalStrict(data, into)
	if err != nil {
		strict = []error{err}
	}
	if hint != "" {
		for i := range strict {
			strict[i] = fmt.Errorf("%w: %s", strict[i], hint)
		}
	}
	return strict
}
