package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v2"
)

// maxDocument bounds the document of an object, in bytes. An API server takes no request of more
// than 3 MiB, and etcd stores less.
const maxDocument = 16 << 20

// The plan of a large cascade is longer. What it is read of bounds it too, so that a small file
// that is compressed takes little memory: each object of a plan has a uid, which does not compress.
const (
	maxPlan       = 512 << 20
	planPerByte   = 256
	bytesPerToken = 16
	// planPerToken is less: the entries of a plan with short names have about 15 bytes for each of
	// their elements.
	planPerToken = 8
)

// planBound is how long the plan of an archive may be whose file has a size.
func planBound(size int64) int { return int(min(maxDocument+planPerByte*size, maxPlan)) }

// bounded returns an error for YAML that takes much more memory than text when it is decoded: the
// library takes up to a kilobyte for what is two bytes of the text.
func bounded(doc []byte) error {
	err := readable(doc)
	if err != nil || bytes.IndexByte(doc, '&') < 0 || bytes.IndexByte(doc, '*') < 0 {
		return err
	}
	var v any
	if err := yaml.Unmarshal(doc, &v); err != nil {
		return nil //nolint:nilerr // who decodes it says so
	}
	if left := maxDocument; !fits(v, &left) {
		return errors.New("its aliases make too much of it")
	}
	return nil
}

// readable returns an error for the document of an object that a Reader would not return.
func readable(doc []byte) error {
	if len(doc) > maxDocument {
		return errTooLong
	}
	return dense(doc, bytesPerToken)
}

var errTooLong = fmt.Errorf("a document of more than %d MiB", maxDocument>>20)

// dense returns an error for a document of too many elements. An element has a character of its own
// that begins, separates or ends it; text has such characters too, but not as many.
func dense(doc []byte, perToken int) error {
	tokens := 0
	for i, b := range doc {
		switch b {
		case '[', '{', ',', '\n':
			tokens++
		case ' ', '\t':
			if i > 0 && (doc[i-1] == '-' || doc[i-1] == '?') {
				tokens++
			}
		}
	}
	if most := max(len(doc), maxDocument) / perToken; tokens > most {
		return fmt.Errorf("a document of more than %d elements", most)
	}
	return nil
}

// fits reports whether the texts of a decoded value are no longer than left, from which it takes
// them.
func fits(v any, left *int) bool {
	switch v := v.(type) {
	case string:
		*left -= len(v)
	case []any:
		for _, e := range v {
			if *left--; !fits(e, left) {
				return false
			}
		}
	case map[any]any:
		for key, e := range v {
			if *left--; !fits(key, left) || !fits(e, left) {
				return false
			}
		}
	}
	return *left >= 0
}

// bounding writes a plan that a Reader reads again.
type bounding struct {
	io.Writer
	left int
}

// Write implements io.Writer.
func (b *bounding) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, fmt.Errorf("the plan is longer than %d MiB: delete less at once", maxPlan>>20)
	}
	return b.Writer.Write(p)
}
