package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
