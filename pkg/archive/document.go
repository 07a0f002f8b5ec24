package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
)

// document returns a value of decoded JSON as a document of a YAML stream, in the words of kubectl -o
// yaml. The library is the one that kubectl reads with. There are two things in an object that it
// does not write so that it reads back; the document is then JSON on one line, which is YAML too:
//
//   - a text that ends the document and itself in one of Unicode's line breaks. YAML counts them
//     and kubectl, which looks for lines that begin with ---, does not: the next document would be
//     a part of this one;
//   - a key "<<", which stands without quotes and is read as a merge.
func document(object any) ([]byte, error) {
	if !hasMergeKey(object) {
		doc, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		if bytes.HasSuffix(doc, []byte("\n")) {
			return doc, nil
		}
	}
	doc, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return append(Printable(doc), '\n'), nil
}

func hasMergeKey(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "<<" || hasMergeKey(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasMergeKey)
	}
	return false
}

// Printable returns JSON in which is spelled out what JSON allows in a text and YAML does not.
func Printable(doc []byte) []byte {
	var b bytes.Buffer
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		switch {
		case r >= 0x7f && r < 0xa0, r == 0xfeff, r == 0xfffe, r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.Write(doc[:n])
		}
		doc = doc[n:]
	}
	return b.Bytes()
}

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
