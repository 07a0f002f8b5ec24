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

	"github.com/klauspost/compress/zstd"
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
