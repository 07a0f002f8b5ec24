package snapshot

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// Writer writes a snapshot. It is safe for concurrent use. After the first error nothing more is
// written, and Close returns it.
type Writer struct {
	encoder *zstd.Encoder

	mu    sync.Mutex
	zip   *zip.Writer
	err   error
	pages map[Of][]page   // of each list of metadata, without those that were discarded
	count map[Of]*Entries // of each list
	end   End
}

// page is an entry, and how many objects it has.
type page struct {
	name    string
	objects int
}

// window is how far back an entry is searched for what it repeats, in bytes: as far as most are long.
const window = 1 << 20

// NewWriter begins a snapshot.
func NewWriter(w io.Writer, head Head) (*Writer, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	s := &Writer{encoder: encoder, zip: zip.NewWriter(w), pages: map[Of][]page{}, count: map[Of]*Entries{}}
	head.Format = format
	s.json(headName, head)
	return s, s.err
}

// Metadata adds a page of a list: of which nothing is kept.
func (w *Writer) Metadata(of Of, items Items) {
	if items.Objects == 0 {
		return
	}
	add := w.entry(items.Encoded)
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.entries(of)
	name := path.Join(metadata, of.name(), strconv.Itoa(n.Metadata))
	n.Metadata++
	w.pages[of] = append(w.pages[of], page{name, items.Objects})
	add(name)
}

// Discard takes back the pages of a list so far.
func (w *Writer) Discard(of Of) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pages[of] {
		w.end.Discarded = append(w.end.Discarded, p.name)
	}
	delete(w.pages, of)
}

// Objects adds whole objects, which say what they are.
func (w *Writer) Objects(of Of, objects []json.RawMessage) {
	if len(objects) == 0 {
		return
	}
	raw, err := json.Marshal(objects)
	add := w.entry(raw)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = errors.Join(w.err, err)
	w.end.Whole += len(objects)
	n := w.entries(of)
	add(path.Join(whole, of.name(), strconv.Itoa(n.Whole)))
	n.Whole++
}

// entries are those of a list so far. The lock is held.
func (w *Writer) entries(of Of) *Entries {
	if w.count[of] == nil {
		w.count[of] = &Entries{Of: of}
	}
	return w.count[of]
}

// Close ends the snapshot with what came of the lists. It adds what the Writer knows: the objects of
// the pages, those that are whole, and the entries that were discarded.
func (w *Writer) Close(end End) (End, error) {
	w.mu.Lock()
	end.Whole, end.Discarded = w.end.Whole, w.end.Discarded
	for _, pages := range w.pages {
		for _, p := range pages {
			end.Objects += p.objects
		}
	}
	for _, n := range w.count {
		end.Entries = append(end.Entries, *n)
	}
	w.mu.Unlock()
	w.json(endName, end)
	if w.err != nil {
		return end, w.err
	}
	return end, w.zip.Close()
}

func (w *Writer) json(name string, v any) {
	raw, err := json.Marshal(v)
	add := w.entry(raw)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = errors.Join(w.err, err)
	add(name)
}

// entry compresses an entry, and returns how to add it under the lock.
func (w *Writer) entry(content []byte) (add func(name string)) {
	compressed := w.encoder.EncodeAll(content, nil)
	header := zip.FileHeader{Method: zstd.ZipMethodWinZip, CRC32: crc32.ChecksumIEEE(content),
		CompressedSize64: uint64(len(compressed)), UncompressedSize64: uint64(len(content))}
	return func(name string) {
		if w.err != nil {
			return
		}
		header.Name = name
		to, err := w.zip.CreateRaw(&header)
		if err == nil {
			_, err = to.Write(compressed)
		}
		w.err = err
	}
}

// name is what the entries of a list are in.
func (of Of) name() string {
	name := of.Resource
	if of.Group != "" {
		name += "." + of.Group
	}
	return path.Join(name, of.Namespace)
}

// The names of entries.
const (
	headName = "snapshot.json"
	endName  = "end.json"
	metadata = "metadata"
	whole    = "whole"
)

// format is the version of the layout. A program reads those that it knows, and no other.
const format = 1

// Head begins a snapshot: what was known before the first list.
type Head struct {
	Format int `json:"format"`
	// Cluster is the uid of the namespace kube-system, empty if it could not be read. Server is the
	// address of the API server.
	Cluster string `json:"cluster,omitempty"`
	Server  string `json:"server"`
	// Namespace is the only one whose objects were listed; empty for all. Cluster-scoped objects were
	// listed in any case.
	Namespace string `json:"namespace,omitempty"`
	// Begun is when it was taken, by the server's clock.
	Begun time.Time `json:"begun"`
	// Types are those that discovery shows, and Unknown the versions of which it does not say what
	// they have.
	Types   []Type                `json:"types"`
	Unknown []schema.GroupVersion `json:"unknown,omitempty"`
}

// Type is a type that discovery shows, in the version that it prefers.
type Type struct {
	metav1.APIResource
	OtherVersions []string `json:"otherVersions,omitempty"`
}

// End ends a snapshot: what came of the lists.
type End struct {
	// Objects is how many it has, and Whole how many of them it has more of than their metadata.
	Objects int `json:"objects"`
	Whole   int `json:"whole"`
	// Lists are those of metadata that came to their end, and Contents those of whole objects.
	Lists    []List `json:"lists"`
	Contents []Of   `json:"contents"`
	// Entries are how many entries there are of each list, whole or not.
	Entries []Entries `json:"entries"`
	// Discarded are entries of lists that were begun again, and tell nothing.
	Discarded []string `json:"discarded,omitempty"`
	// Gaps are what could not be seen.
	Gaps []v1alpha1.Gap `json:"gaps,omitempty"`
}

// List is a list of the metadata of all objects of a type, in a namespace or everywhere. A watch can
// go on from its resourceVersion.
type List struct {
	Of
	Version         string `json:"version"`
	Kind            string `json:"kind"`
	Namespaced      bool   `json:"namespaced"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Entries are how many entries a list has of metadata, with those that were discarded, and of whole
// objects.
type Entries struct {
	Of
	Metadata int `json:"metadata,omitempty"`
	Whole    int `json:"whole,omitempty"`
}

// Of is what a list is of: a type, in a namespace or everywhere.
type Of struct {
	Group     string `json:"group,omitempty"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
}
