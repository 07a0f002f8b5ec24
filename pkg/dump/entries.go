package dump

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// entries hands over the files of a source that may hold objects, or tell what it is.
type entries struct {
	limits Limits
	count  int
	kept   int64
	// single says that the source is one file, and no folder or archive.
	single bool
	// written is when the newest file with objects was written.
	written time.Time
	visit   func(name string, content []byte) error
	// unread notes a file, or a folder with what is in it, that may not be read.
	unread func(name string, err error)
	// snapshot is what was read if the source is one.
	snapshot *Dump
}

// wanted returns whether a file may hold objects, or tells what a dump is.
func wanted(name string) bool {
	switch base := path.Base(name); {
	case base == "timestamp":
		return true
	case strings.HasPrefix(base, "._"):
		return false
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}

// path reads a file or a folder.
func (e *entries) path(ctx context.Context, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return e.folder(ctx, os.DirFS(name))
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	magic := make([]byte, len(zipMagic))
	if _, err := file.ReadAt(magic, 0); err == nil && string(magic) == zipMagic {
		err := e.zip(file, info.Size())
		if err != nil {
			err = errors.Join(err, file.Close())
		}
		return err // what is in it is read when it is asked for
	}
	return errors.Join(e.stream(ctx, file, info.ModTime()), file.Close())
}

// zip reads a snapshot, and no other zip archive.
func (e *entries) zip(r io.ReaderAt, size int64) (err error) {
	if e.snapshot, err = openSnapshot(r, size, e.limits); errors.Is(err, snapshot.ErrNone) {
		return foreignArchive("unzip")
	}
	return err
}

// folder reads the files of a folder, and follows no link.
func (e *entries) folder(ctx context.Context, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission) && name != ".":
			e.unread(name, err)
			return fs.SkipDir
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir():
			return nil
		}
		if err := e.counted(); err != nil || !wanted(name) {
			return err
		}
		if !d.Type().IsRegular() {
			return notRegular(name)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file, err := files.Open(name)
		if errors.Is(err, fs.ErrPermission) {
			e.unread(name, err)
			return nil
		}
		if err != nil {
			return err
		}
		return errors.Join(e.keep(name, info.ModTime(), file), file.Close())
	})
}

func notRegular(name string) error {
	return fmt.Errorf("%s is no file but a link or a device, which is not followed", name)
}

func (e *entries) counted() error {
	if e.count++; e.count > e.limits.Entries {
		return tooLarge("it has more than %d files", e.limits.Entries)
	}
	return nil
}

// keep reads one file whole.
func (e *entries) keep(name string, written time.Time, r io.Reader) error {
	if written.After(e.written) {
		e.written = written
	}
	left := min(e.limits.Entry, e.limits.Kept-e.kept)
	what := name
	if left < e.limits.Entry {
		what = "what it holds of objects"
	}
	content, err := io.ReadAll(bound(r, left, what))
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	e.kept += int64(len(content))
	return e.visit(name, content)
}

// tarMagic stands in the header of the first file of a tar archive.
const (
	tarMagic   = "ustar"
	tarMagicAt = 257
)

// foreign are the first bytes of archives that are not read, and how they are unpacked.
var foreign = map[string]string{
	"\xfd7zXZ\x00":     "tar -xJf",
	"\x28\xb5\x2f\xfd": "tar --zstd -xf",
	"BZh":              "tar -xjf",
}

// stream reads a file, or an archive, that comes through a pipe as well.
func (e *entries) stream(ctx context.Context, r io.Reader, written time.Time) error {
	in := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReaderSize(unzipped, 64<<10)
	}
	head, err := in.Peek(tarMagicAt + len(tarMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.HasPrefix(head, []byte(zipMagic)) {
		content, err := io.ReadAll(bound(in, e.limits.Kept, "the archive"))
		if err != nil {
			return err
		}
		return e.zip(bytes.NewReader(content), int64(len(content)))
	}
	for magic, unpack := range foreign {
		if bytes.HasPrefix(head, []byte(magic)) {
			return foreignArchive(unpack)
		}
	}
	if len(head) == tarMagicAt+len(tarMagic) && string(head[tarMagicAt:]) == tarMagic {
		return e.tar(ctx, bound(in, e.limits.Unpacked, "the archive"))
	}
	e.single = true
	return e.keep("the file", written, in)
}

func foreignArchive(unpack string) error {
	return fmt.Errorf("it is an archive of a kind that is not read: unpack it with %s, and name the folder", unpack)
}

// tar reads the files of an archive. Names cannot lead out of it, although nothing is written: what
// has such names is no dump.
func (e *entries) tar(ctx context.Context, r io.Reader) error {
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading the archive: %w", err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if err := e.counted(); err != nil {
			return err
		}
		name := path.Clean(header.Name)
		if !fs.ValidPath(name) {
			return fmt.Errorf("the name %q leaves the archive", header.Name)
		}
		switch {
		case header.Typeflag == tar.TypeDir, header.Typeflag == tar.TypeXGlobalHeader, !wanted(name):
		case header.Typeflag != tar.TypeReg:
			return notRegular(name)
		case header.Size > e.limits.Entry:
			return tooLarge("%s has more than %d MiB", name, e.limits.Entry>>20)
		default:
			if err := e.keep(name, header.ModTime, archive); err != nil {
				return err
			}
		}
	}
}

// Limits bound what is read of a dump.
type Limits struct {
	// Entry is how many bytes a file with objects may have.
	Entry int64
	// Kept is how many bytes the files with objects may have together, and Unpacked all files of
	// an archive, with what is stepped over.
	Kept, Unpacked int64
	// Entries is how many files there may be, and Objects how many objects.
	Entries, Objects int
}

// DefaultLimits are larger than what is saved of a large cluster.
var DefaultLimits = Limits{Entry: 1 << 30, Kept: 4 << 30, Unpacked: 64 << 30, Entries: 2_000_000, Objects: 5_000_000}

// maxPiece bounds what is decoded of YAML at once, in bytes. An API server takes no object of more
// than 3 MiB.
const maxPiece = 4 << 20

// errTooLarge is of what the Limits do not allow.
var errTooLarge = errors.New("the dump is too large")

func tooLarge(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errTooLarge, fmt.Sprintf(format, args...))
}

// bounded reads no more than a number of bytes, and an error after that.
type bounded struct {
	io.Reader
	left  int64
	bound int64
	what  string
}

func bound(r io.Reader, most int64, what string) *bounded {
	return &bounded{Reader: r, left: most, bound: most, what: what}
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLarge("%s has more than %d MiB", b.what, b.bound>>20)
	}
	return n, err
}
