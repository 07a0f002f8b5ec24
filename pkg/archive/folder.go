package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Folder is where archives are put whose files nobody names. Only its owner can read it.
type Folder string

// What a Folder keeps: archives of the last days, as many as fit.
const (
	KeptFor    = 14 * 24 * time.Hour
	keptAnyway = 24 * time.Hour
	keptBytes  = 1 << 30
)

// suffix is that of the archives of a Folder. Nothing else in it is ever removed.
const suffix = ".auto.yaml.gz"

// Name makes the folder and returns a file in it that does not exist.
func (f Folder) Name(now time.Time) (string, error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return "", err
	}
	if err := os.Chmod(string(f), 0o700); err != nil { //nolint:gosec // a folder that may have been there before
		return "", err
	}
	stamp := now.UTC().Format("20060102T150405.000000000Z")
	return filepath.Join(string(f), stamp+suffix), nil
}

// Last returns the newest archive that does not say that it is of another cluster than the
// given one; the newest of all if that is empty.
func (f Folder) Last(cluster string) (string, error) {
	all, err := f.archives()
	if err != nil {
		return "", err
	}
	for _, info := range all {
		path := filepath.Join(string(f), info.Name())
		if cluster == "" {
			return path, nil
		}
		r, err := Open(path)
		if err != nil {
			return "", err
		}
		if of := r.Head.Cluster; of == cluster || of == "" {
			return path, r.Close()
		}
		if err := r.Close(); err != nil {
			return "", err
		}
	}
	if len(all) > 0 {
		return "", fmt.Errorf("there is no archive of this cluster in %s; -f names one of another", f)
	}
	return "", fmt.Errorf("there is no archive in %s; --archive=auto puts one there", f)
}

// Prune removes archives that are too old, and the oldest of those that take too much room. The
// newest stays, as do the one that was just written and those of the last day.
func (f Folder) Prune(now time.Time, written string) error { return f.prune(now, written, keptBytes) }

func (f Folder) prune(now time.Time, written string, most int64) error {
	all, err := f.archives()
	if err != nil {
		return err
	}
	var errs []error
	var bytes int64
	for i, info := range all {
		bytes += info.Size()
		path, age := filepath.Join(string(f), info.Name()), now.Sub(info.ModTime())
		if i > 0 && path != written && age >= keptAnyway && (age > KeptFor || bytes > most) {
			for _, err := range []error{os.Remove(path), os.Remove(path + createdSuffix)} {
				if !errors.Is(err, fs.ErrNotExist) {
					errs = append(errs, err)
				}
			}
		}
	}
	return errors.Join(errs...)
}

// archives are the files of the folder, those first that were written last: a clock that was set
// back would have the names say something else.
func (f Folder) archives() ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []fs.FileInfo
	for _, e := range slices.Backward(entries) {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		if info, err := e.Info(); err == nil { // otherwise somebody else has pruned it
			all = append(all, info)
		}
	}
	slices.SortStableFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	return all, err
}

// createdSuffix is what the name of the file beside an archive ends with that says what was created.
const createdSuffix = ".created"

// Created remembers which objects were created from an archive: in a file beside it, a line for
// each with the uid that it had and the one that it has now. An annotation of the object would not
// do, since anybody who may write the object may write it. It is safe for concurrent use.
type Created struct {
	path   string
	exists bool

	mu   sync.Mutex
	uids map[string][]string
}

// CreatedFrom reads what was created from an archive. The error names the file and what is wrong
// with it; that there is none is no error.
func CreatedFrom(archive string) (*Created, error) {
	c := &Created{path: archive + createdSuffix, uids: map[string][]string{}}
	info, err := os.Lstat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file: move it away", c.path)
	}
	c.exists = true
	file, err := os.Open(c.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// Only its owner may change the mode of a file, and another owner could write anything into it.
	if err := file.Chmod(mode); errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%s belongs to another user: move it away", c.path)
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if uids := strings.Fields(lines.Text()); len(uids) == 2 {
			c.uids[uids[0]] = append(c.uids[uids[0]], uids[1])
		}
	}
	return c, lines.Err()
}

// Is reports whether the object with the uid now was created from the archived one.
func (c *Created) Is(archived, now string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return now != "" && slices.Contains(c.uids[archived], now)
}

// Add remembers one more. The error is about the file; the object is remembered in memory all the
// same.
func (c *Created) Add(archived, now string) error {
	if c.Is(archived, now) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uids[archived] = append(c.uids[archived], now)
	flags := os.O_APPEND | os.O_WRONLY
	if !c.exists {
		flags |= os.O_CREATE | os.O_EXCL // and not through a link that somebody has put there
	}
	file, err := os.OpenFile(c.path, flags, mode)
	if err != nil {
		return err
	}
	c.exists = true
	_, err = fmt.Fprintf(file, "%s %s\n", archived, now)
	return errors.Join(err, file.Close())
}
