package finalizer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// linkFile has the links of a pack.
type linkFile struct {
	File  string            `json:"file"`
	Title string            `json:"title"`
	Links []link.Definition `json:"links"`
}

// WriteLinks writes the links of all packs as JSON. Reading them back takes a millisecond, where reading and checking the packs takes fifty: commands that need the
// links alone are run many times a day.
func (r *Registry) WriteLinks() ([]byte, error) {
	var files []linkFile
	for _, pack := range r.Packs() {
		if len(pack.Links) > 0 {
			files = append(files, linkFile{pack.File, pack.Title, pack.Links})
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(files)
	return out.Bytes(), err
}

// ReadLinks reads what WriteLinks wrote: packs that have their links, and no entries of finalizers. Nothing is checked again.
func ReadLinks(data []byte) (*Registry, error) {
	var files []linkFile
	if err := json.Unmarshal(data, &files); err != nil {
		return nil, fmt.Errorf("reading the links of packs: %w", err)
	}
	packs := make([]Pack, len(files))
	for i, f := range files {
		for j := range f.Links {
			f.Links[j].Pack = f.Title
		}
		packs[i] = Pack{File: f.File, Title: f.Title, Links: f.Links}
	}
	return newRegistry(packs), nil
}
