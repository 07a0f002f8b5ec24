package archive

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// spool keeps documents on disk in the order in which they are read, which is any, until they are
// written in the order of the archive. It is safe for concurrent use.
type spool struct {
	file *os.File

	mu   sync.Mutex
	size int64
	at   map[graph.ID]section
}

type section struct {
	offset, length int64
	of             copied
}

func newSpool(dir string) (*spool, error) {
	file, err := private(dir)
	if err != nil {
		return nil, err
	}
	return &spool{file: file, at: map[graph.ID]section{}}, nil
}

// add keeps an object's document, in place of an older one of its.
func (s *spool) add(id graph.ID, doc []byte, of copied) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.WriteAt(doc, s.size); err != nil {
		return err
	}
	s.at[id] = section{s.size, int64(len(doc)), of}
	s.size += int64(len(doc))
	return nil
}

// has says whether there is a document of an object.
func (s *spool) has(id graph.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.at[id]
	return ok
}

// of returns what is remembered of an object's document.
func (s *spool) of(id graph.ID) copied {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[id].of
}

// copy writes an object's document.
func (s *spool) copy(w io.Writer, id graph.ID) error {
	s.mu.Lock()
	at := s.at[id]
	s.mu.Unlock()
	n, err := io.Copy(w, io.NewSectionReader(s.file, at.offset, at.length))
	if err == nil && n != at.length {
		err = fmt.Errorf("%s ends early: %w", s.file.Name(), io.ErrUnexpectedEOF)
	}
	return err
}

// remove takes the file away.
func (s *spool) remove() { discard(s.file) }
