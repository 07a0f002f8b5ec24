package snapshot

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
)

// File is a snapshot that is read. What was read of its lists stays where it is until it is asked
// for. It is safe for concurrent use.
type File struct {
	Head Head
	End  End

	decoder *zstd.Decoder
	pages   map[Of][]*zip.File // metadata
	whole   map[Of][]*zip.File
}

// ErrNone is of a zip archive that is no snapshot.
var ErrNone = errors.New("it is a zip archive, and no snapshot of kubectl gc")

// Limits bound what is unpacked of a snapshot, in bytes: each entry, and all of them.
type Limits struct{ Entry, Total uint64 }

// check bounds what entries say that they have. That one has more than it says is an error when it
// is read.
func (l Limits) check(files []*zip.File) error {
	left := l.Total
	for _, file := range files {
		switch size := max(file.UncompressedSize64, file.CompressedSize64); {
		case size > l.Entry:
			return fmt.Errorf("%s has more than %d MiB", file.Name, l.Entry>>20)
		case size > left:
			return fmt.Errorf("what it holds has more than %d MiB", l.Total>>20)
		default:
			left -= size
		}
	}
	return nil
}

// Read reads what a snapshot says of itself. The error is ErrNone for another zip archive.
func Read(r io.ReaderAt, size int64, limits Limits) (*File, error) {
	archive, err := zip.NewReader(r, size)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is a snapshot that is cut off, or another zip archive: take the snapshot again, or unpack it "+
			"with unzip, and name the folder: %w", err)
	case len(archive.File) == 0 || archive.File[0].Name != headName:
		return nil, ErrNone
	}
	if err := limits.check(archive.File); err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(max(1, limits.Entry)))
	if err != nil {
		return nil, err
	}
	f := &File{decoder: decoder, pages: map[Of][]*zip.File{}, whole: map[Of][]*zip.File{}}
	if err := f.json(archive.File[0], &f.Head); err != nil {
		return nil, err
	}
	if f.Head.Format != format {
		return nil, fmt.Errorf("its format is %d, and this program reads format %d: read it with the version that wrote it",
			f.Head.Format, format)
	}
	last := archive.File[len(archive.File)-1]
	if last.Name != endName {
		return nil, fmt.Errorf("it has no %s at its end: it was not written whole", endName)
	}
	if err := f.json(last, &f.End); err != nil {
		return nil, err
	}
	if err := f.place(archive.File[1 : len(archive.File)-1]); err != nil {
		return nil, err
	}
	return f, nil
}

// place finds the entries of each list. That one is missing is an error: its objects would seem to
// be absent.
func (f *File) place(files []*zip.File) error {
	byName := make(map[string]*zip.File, len(files))
	for _, file := range files {
		byName[file.Name] = file
	}
	entries := func(kind string, of Of, n int) (found []*zip.File, err error) {
		for i := range n {
			name := path.Join(kind, of.name(), strconv.Itoa(i))
			switch file := byName[name]; {
			case file == nil:
				return nil, fmt.Errorf("%s is not in it: it was changed", name)
			case !slices.Contains(f.End.Discarded, name):
				found = append(found, file)
			}
		}
		return found, nil
	}
	for _, n := range f.End.Entries {
		var err error
		if f.pages[n.Of], err = entries(metadata, n.Of, n.Metadata); err != nil {
			return err
		}
		if f.whole[n.Of], err = entries(whole, n.Of, n.Whole); err != nil {
			return err
		}
	}
	return nil
}

// Pages returns how many pages of metadata there are of a list.
func (f *File) Pages(of Of) int { return len(f.pages[of]) }

// Size returns how many bytes of metadata there are of a list.
func (f *File) Size(of Of) (bytes uint64) {
	for _, page := range f.pages[of] {
		bytes += page.UncompressedSize64
	}
	return bytes
}

// Page returns one of them, encoded as Items are.
func (f *File) Page(of Of, page int) ([]byte, error) { return f.content(f.pages[of][page]) }

// Lists are those of which there are entries, in order.
func (f *File) Lists() []Of {
	return slices.SortedFunc(maps.Keys(f.pages), func(a, b Of) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource),
			strings.Compare(a.Namespace, b.Namespace))
	})
}

// Objects returns the whole objects of a type.
func (f *File) Objects(group, resource string) ([]json.RawMessage, error) {
	var all []json.RawMessage
	for of, entries := range f.whole {
		if of.Group != group || of.Resource != resource {
			continue
		}
		for _, e := range entries {
			var objects []json.RawMessage
			if err := f.json(e, &objects); err != nil {
				return nil, err
			}
			all = append(all, objects...)
		}
	}
	return all, nil
}

func (f *File) json(file *zip.File, into any) error {
	content, err := f.content(file)
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", file.Name, err)
	}
	return nil
}

// content decompresses an entry.
func (f *File) content(file *zip.File) ([]byte, error) {
	if file.Method != zstd.ZipMethodWinZip {
		return nil, fmt.Errorf("%s is not compressed as entries of a snapshot are", file.Name)
	}
	raw, err := file.OpenRaw()
	if err != nil {
		return nil, err
	}
	compressed := make([]byte, file.CompressedSize64)
	if _, err := io.ReadFull(raw, compressed); err != nil {
		return nil, err
	}
	content, err := f.decoder.DecodeAll(compressed, nil)
	if err == nil && uint64(len(content)) != file.UncompressedSize64 {
		err = fmt.Errorf("it has %d bytes, and not %d", len(content), file.UncompressedSize64)
	}
	return content, err
}

// Item is one object of a page: what tells it from others, and its encoding, a
// PartialObjectMetadata in protobuf.
type Item struct {
	Namespace, Name, UID, ResourceVersion string
	Encoded                               []byte
}

// ForEach calls f with each object of a page.
func ForEach(page []byte, f func(Item)) error {
	return fields(page, func(num protowire.Number, encoded, _ []byte) error {
		if num != listItems {
			return nil
		}
		it := Item{Encoded: encoded}
		meta, err := only(encoded, itemMeta)
		if err == nil {
			err = fields(meta, func(num protowire.Number, value, _ []byte) error {
				switch num {
				case metaName:
					it.Name = string(value)
				case metaNamespace:
					it.Namespace = string(value)
				case metaUID:
					it.UID = string(value)
				case metaVersion:
					it.ResourceVersion = string(value)
				}
				return nil
			})
		}
		f(it)
		return err
	})
}

// Without removes objects from a page, by their uids, in its place.
func Without(page []byte, uids map[string]bool) ([]byte, error) {
	kept := page[:0]
	err := fields(page, func(_ protowire.Number, item, whole []byte) error {
		meta, err := only(item, itemMeta)
		if err != nil {
			return err
		}
		uid, err := only(meta, metaUID)
		if err == nil && !uids[string(uid)] {
			kept = append(kept, whole...)
		}
		return err
	})
	return kept, err
}

// EncodeList encodes a list of items as an API server does in protobuf, before which its metadata stands.
func EncodeList(resourceVersion, continueToken string, items [][]byte) [][]byte {
	const version, token, meta = 2, 3, 1
	var head []byte
	head = protowire.AppendTag(head, version, protowire.BytesType)
	head = protowire.AppendString(head, resourceVersion)
	if continueToken != "" {
		head = protowire.AppendTag(head, token, protowire.BytesType)
		head = protowire.AppendString(head, continueToken)
	}
	list := protowire.AppendTag(nil, meta, protowire.BytesType)
	list = protowire.AppendBytes(list, head)
	size := len(list)
	for _, item := range items {
		size += len(item)
	}
	begin := protowire.AppendTag(slices.Clone(magic), unknownRaw, protowire.BytesType)
	begin = protowire.AppendVarint(begin, uint64(size))
	return append([][]byte{append(begin, list...)}, items...)
}
