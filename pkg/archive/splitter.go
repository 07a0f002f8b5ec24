package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// splitter splits a stream of YAML at its separators, as kubectl does: lines that begin with ---
// and have nothing else but white space.
type splitter struct {
	r *bufio.Reader
	// line is that of what is read next, from 1.
	line int
	// last is the beginning of the last line that is not blank, as far as it was read.
	last []byte
	// ended says that the stream was read to its end.
	ended bool
	// most bounds a document, in bytes.
	most int
}

// longestEnd is more than the last line of an archive has, in bytes.
const longestEnd = 100

func newSplitter(r io.Reader) *splitter {
	return &splitter{r: bufio.NewReaderSize(r, bufferSize), line: 1, most: maxDocument}
}

// next returns the next document that is not empty, with the line on which it begins; io.EOF if
// there is none.
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
	begin, middle := d.line, false
	for {
		text, err := d.r.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && !errors.Is(err, io.EOF) {
			return nil, begin, err
		}
		if len(text) == 0 && len(doc) == 0 && d.line == begin && errors.Is(err, io.EOF) {
			d.ended = true
			return nil, begin, io.EOF
		}
		if (len(doc) == 0 || doc[len(doc)-1] == '\n') && isSeparator(text) {
			d.line++
			return doc, begin, nil
		}
		if !middle && len(bytes.TrimSpace(text)) > 0 {
			d.last = append(d.last[:0], text[:min(len(text), longestEnd)]...)
		}
		middle = full
		if doc = append(doc, text...); len(doc) > d.most {
			return nil, begin, fmt.Errorf("line %d: a document of more than %d MiB", begin, d.most>>20)
		}
		switch {
		case full:
		case err != nil:
			d.ended = true
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
