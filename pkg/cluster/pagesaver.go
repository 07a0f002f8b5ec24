package cluster

import (
	"bufio"
	"bytes"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// PageSaver keeps the pages of a listing as the server answered them. Its methods are called from
// several goroutines.
type PageSaver interface {
	// Save takes a page that was read whole: a list of metadata in protobuf or in JSON, valid during
	// the call.
	Save(t graph.Type, namespace string, page []byte)
	// Discard takes back the pages of a list so far: the list begins again, or the type is not served
	// any more.
	Discard(t graph.Type, namespace string)
}

// saved is where a listing goes whose pages are saved: into nothing.
type saved struct {
	to        PageSaver
	t         graph.Type
	namespace string
}

// Add implements collector.
func (saved) Add(...graph.Object) {}

// Discard implements collector.
func (s saved) Discard() { s.to.Discard(s.t, s.namespace) }

// whole reads a page before it is decoded, and saves it if that succeeds.
func (s saved) whole(body io.Reader, decode func(*bufio.Reader) error) error {
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if err = decode(bufio.NewReaderSize(bytes.NewReader(content), readBuffer)); err == nil {
		s.to.Save(s.t, s.namespace, content)
	}
	return err
}
