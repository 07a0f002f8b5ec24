package archive

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Reader reads an archive, one object at a time. It is not safe for concurrent use.
type Reader struct {
	// Head is the plan that the archive was written for.
	Head *v1alpha1.Plan

	path string
	docs *splitter
	file io.Closer
	// size is that of the file.
	size int64
	sum  [sha256.Size]byte
	// read counts the objects that were returned, and lines are those on which they begin, by uid.
	read  int
	lines map[string]int
}

// Open opens an archive and reads its plan. A file that is compressed with gzip is read as well.
// The error names the file and the line. It has to be closed.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r := &Reader{path: path, file: file, size: info.Size()}
	if err := r.begin(file); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// begin reads the plan.
func (r *Reader) begin(file io.Reader) error {
	in := bufio.NewReader(file)
	r.lines = map[string]int{}
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unzip, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
		r.docs = newSplitter(unzip)
	} else {
		r.docs = newSplitter(in)
	}
	r.docs.most = planBound(r.size)
	doc, line, err := r.docs.next()
	r.docs.most = maxDocument
	if errors.Is(err, io.EOF) { // and not io.ErrUnexpectedEOF
		return fmt.Errorf("%s is empty: it is no archive of kubectl gc", r.path)
	}
	if err != nil {
		return r.unread(err)
	}
	if r.Head, err = readPlan(doc); err != nil {
		return fmt.Errorf("%s, line %d: %w", r.path, line, err)
	}
	if want := v1alpha1.TypeMeta("Plan"); r.Head.TypeMeta != want {
		return fmt.Errorf("%s, line %d: the first document is no Plan of %s: it is no archive of kubectl gc", r.path, line,
			want.APIVersion)
	}
	return nil
}

// Next returns the next object, with the line on which it begins; io.EOF after the last. The error
// is ErrNotWhole for an archive that is cut off or has not as many objects as it says, which is
// seen at its end only, and names the file and the line of what is no object, or is there already.
func (r *Reader) Next() (*unstructured.Unstructured, int, error) {
	doc, line, err := r.document()
	if err != nil {
		return nil, line, err
	}
	object, err := decode(doc)
	if err != nil {
		return nil, line, fmt.Errorf("%s, line %d: %w", r.path, line, err)
	}
	uid := string(object.GetUID())
	if first, twice := r.lines[uid]; twice {
		return nil, line, fmt.Errorf("%s, line %d: the object with uid %s is on line %d already", r.path, line, uid, first)
	}
	r.lines[uid], r.sum = line, sha256.Sum256(doc)
	return object, line, nil
}

// Sum is a sum of the document of the object that Next returned last. Who reads an archive twice
// compares it: the file can be another one by then.
func (r *Reader) Sum() [sha256.Size]byte { return r.sum }

// Skip is Next for an object that is not wanted: it is not decoded, which takes most of the time.
func (r *Reader) Skip() error {
	_, _, err := r.document()
	return err
}

// document returns the document of the next object, with the line on which it begins.
func (r *Reader) document() ([]byte, int, error) {
	doc, line, err := r.docs.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, line, r.unread(err)
	}
	if cut := r.cut(); cut != nil { // an object of which half is there can be an object all the same
		return nil, line, cut
	}
	if err != nil {
		return nil, line, r.counted()
	}
	r.read++
	return doc, line, nil
}

// unread is the error of a file that cannot be read to its end.
func (r *Reader) unread(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w: the file is cut off", r.path, ErrNotWhole)
	}
	return fmt.Errorf("%s: %w", r.path, err)
}

// cut returns an error if all of the file was read and it does not end as an archive does; nil if
// it does, or is of a version that did not mark the end.
func (r *Reader) cut() error {
	if r.Head.Archived == nil || !r.docs.ended || isEndOf(r.docs.last, *r.Head.Archived) {
		return nil
	}
	return fmt.Errorf("%s, line %d: %w: the file is cut off, since its last line is not %q", r.path, r.docs.line,
		ErrNotWhole, strings.TrimSpace(endOf(*r.Head.Archived)))
}

// counted is io.EOF if as many objects were read as the plan says. A plan that was printed says
// nothing of an archive, and nothing follows it.
func (r *Reader) counted() error {
	if r.Head.Archived == nil && r.Head.ArchivedAt == nil && r.read == 0 {
		return fmt.Errorf(
			"%s is a plan, not an archive: it holds no objects; kubectl gc delete --archive FILE writes an archive", r.path)
	}
	if said := r.Head.Archived; said != nil && *said != r.read {
		return fmt.Errorf("%s: %w: it has %s, and its plan says %d", r.path, ErrNotWhole,
			phrase.Count(r.read, "object"), *said)
	}
	return io.EOF
}

// decode reads the document of an object.
func decode(doc []byte) (*unstructured.Unstructured, error) {
	if err := bounded(doc); err != nil {
		return nil, err
	}
	raw, err := yaml.YAMLToJSON(doc)
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &o.Object); err != nil {
		return nil, errors.New("the document is no object")
	}
	for _, field := range []struct{ name, value string }{{"apiVersion", o.GetAPIVersion()}, {"kind", o.GetKind()},
		{"metadata.name", o.GetName()}, {"metadata.uid", string(o.GetUID())}} {
		if field.value == "" {
			return nil, fmt.Errorf("the object has no %s", field.name)
		}
	}
	return o, nil
}

// Close closes the file. What is wrong with its content is no error of Close.
func (r *Reader) Close() error { return r.file.Close() }
