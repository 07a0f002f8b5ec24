package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxDocument bounds what is kept of one document in memory, in bytes. The API server takes no object of more than some megabytes; the plan of a large cascade is longer.
const maxDocument = 512 << 20

// splitter splits a stream of YAML at its separators, as kubectl does: lines that begin with --- and have nothing else but white space.
type splitter struct {
	r *bufio.Reader
	// line is that of what is read next, from 1.
	line int
}

func newSplitter(r io.Reader) *splitter { return &splitter{bufio.NewReaderSize(r, 1<<20), 1} }

// next returns the next document that is not empty, with the line on which it begins; io.EOF if there is none.
func (d *splitter) next() (doc []byte, line int, err error) {
	for {
		doc, line, err = d.any()
		if err != nil || len(bytes.TrimSpace(doc)) > 0 {
			return doc, line, err
		}
	}
}

// any returns the next document, which may be empty.
func (d *splitter) any() ([]byte, int, error) {
	var doc []byte
	begin := d.line
	for {
		text, err := d.r.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && !errors.Is(err, io.EOF) {
			return nil, begin, err
		}
		if len(text) == 0 && len(doc) == 0 && d.line == begin && errors.Is(err, io.EOF) {
			return nil, begin, io.EOF
		}
		if (len(doc) == 0 || doc[len(doc)-1] == '\n') && isSeparator(text) {
			d.line++
			return doc, begin, nil
		}
		if doc = append(doc, text...); len(doc) > maxDocument {
			return nil, begin, fmt.Errorf("line %d: a document of more than %d MiB", begin, maxDocument>>20)
		}
		switch {
		case full:
		case err != nil:
			return doc, begin, nil
		default:
			d.line++
		}
	}
}

func isSeparator(line []byte) bool {
	rest, is := bytes.CutPrefix(line, []byte("---"))
	return is && len(bytes.TrimSpace(rest)) == 0
}
