package archive

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// mode is for the owner alone: an archive holds whatever secrets the cluster does.
const mode = 0o600

// Check says whether a file could be put at a path, as far as that can be known beforehand. What
// exists is never overwritten: it may be the only copy of what an earlier deletion took.
func Check(path string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return fmt.Errorf("%s exists, and is never overwritten: name another file, or move that one away", path)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return err
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s cannot be made: there is no directory %s", path, dir)
	}
	return nil
}

// Write has a function write a file that only its owner can read. The file has its name when all of
// it is on the disk, and not before; with an error there is none.
func Write(path string, write func(io.Writer) error) error {
	file, err := private(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer discard(file)
	if err := write(file); err != nil {
		return err
	}
	return place(file, path)
}

// private returns a new file in a folder that only its owner can read, whatever the umask.
func private(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, ".kubectl-gc-archive-*")
	if err != nil {
		return nil, err
	}
	if err := file.Chmod(mode); err != nil {
		discard(file)
		return nil, err
	}
	return file, nil
}

// discard takes a file away, unless it has another name by now.
func discard(file *os.File) {
	file.Close()
	os.Remove(file.Name())
}

// place gives a file that is written its name. When it returns nil, a power cut does not undo it.
func place(file *os.File, path string) error {
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	// To take the name first is what keeps the rename from overwriting a file that has come up
	// meanwhile.
	name, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	name.Close()
	err = os.Rename(file.Name(), path)
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

// syncDir makes the names in a folder last.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // which does it by itself, and does not let a folder be synced
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	err = dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil // not all file systems can
	}
	return err
}

// bufferSize is how many bytes are written to a file, or read from one, at once.
const bufferSize = 1 << 20

// compressed calls f with what writes a file that is to have the name of a path: through gzip, if
// the name says so.
func compressed(file io.Writer, path string, f func(io.Writer) error) error {
	buffer := bufio.NewWriterSize(file, bufferSize)
	write := f
	if strings.EqualFold(filepath.Ext(path), ".gz") {
		write = func(w io.Writer) error {
			zip := gzip.NewWriter(w)
			return cmp.Or(f(zip), zip.Close())
		}
	}
	if err := write(buffer); err != nil {
		return err
	}
	return buffer.Flush()
}

// ErrNotWhole is of an archive that ends before its end, or does not hold as many objects as its
// plan says.
var ErrNotWhole = errors.New("the archive is not whole")

// endOf is the last line of an archive of n objects. It is a comment in the last document, so that
// who reads YAML sees no further document. No text of an object can look like it: in a document
// such a line is indented, or quoted.
func endOf(n int) string { return "# end of archive: " + phrase.Count(n, "object") + "\n" }

// isEndOf reports whether a line is the last of an archive of n objects.
func isEndOf(line []byte, n int) bool {
	return strings.TrimSpace(string(line)) == strings.TrimSpace(endOf(n))
}

// OmitArchive is the hint of what is not done because an object cannot be archived.
const OmitArchive = "omit --archive to continue without a copy"

// NotSaved words an error of Save for somebody who does nothing without the archive; not says what
// did not happen because of it, as in "nothing was deleted". It is a refusal, with a hint, if an
// object cannot be read, and none if the file cannot be written. If ctx has ended, it is what ended
// it.
func NotSaved(ctx context.Context, err error, not, hint string) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*cluster.UnreadError)):
		return answer.Refuse(answer.WithHint(fmt.Errorf("%s: the archive would be incomplete: %w", not, err), hint))
	}
	return fmt.Errorf("%s: writing the archive: %w", not, err)
}
