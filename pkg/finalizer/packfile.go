package finalizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

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
			k.Pack, k.Alive = f.Title, f.Components[k.Component]
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
