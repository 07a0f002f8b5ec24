package cluster

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// PageSaver keeps the pages of a listing as the server answered them. Its methods are called from
// several goroutines.
type PageSaver interface {
	// Page returns what takes the objects of a page: add is called with each of them, encoded as a
	// PartialObjectMetadata in protobuf, which is valid during the call; and end, if the page was read
	// whole.
	Page(t graph.Type, namespace string) (add func(item []byte), end func())
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

// page begins a page; both functions do nothing where none is saved.
func (s saved) page() (add func([]byte), end func()) {
	if s.to == nil {
		return nil, func() {}
	}
	return s.to.Page(s.t, s.namespace)
}

// inProtobuf encodes the metadata of an object of a server that speaks JSON only.
func inProtobuf(raw []byte) ([]byte, error) {
	var o metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, jsonError(err)
	}
	o.TypeMeta = metav1.TypeMeta{}
	return o.Marshal()
}
