package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
)

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

// Is says whether the object with the uid now was created from the archived one.
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
