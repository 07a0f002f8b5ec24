package archive

import (
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Summary says what is in an archive.
type Summary struct {
	// Objects are what it holds, in its order.
	Objects []graph.Ref
	// Missing are the objects that its plan deletes or changes and that it does not hold: they were gone when it was written, or it is not whole.
	Missing []graph.Ref
}

// Verify reads an archive to its end and compares it with its plan. The error names the file and the line of what cannot be read, or of an object that is there twice.
func Verify(path string) (*Summary, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &Summary{}
	lines := map[string]int{}
	for {
		o, line, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		uid := string(o.GetUID())
		if first, twice := lines[uid]; twice {
			return nil, fmt.Errorf("%s, line %d: the object with uid %s is on line %d already", path, line, uid, first)
		}
		lines[uid] = line
		s.Objects = append(s.Objects, graph.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: uid})
	}
	seen := map[string]bool{}
	wanted := func(ref graph.Ref) {
		if _, held := lines[ref.UID]; !held && !seen[ref.UID] {
			seen[ref.UID] = true
			s.Missing = append(s.Missing, ref)
		}
	}
	for _, o := range r.Head.Roots {
		wanted(refOf(o))
	}
	for _, o := range r.Head.Deleted {
		wanted(refOf(o))
	}
	for _, a := range r.Head.Actions {
		wanted(refOf(a.Object))
	}
	return s, nil
}

func refOf(o v1alpha1.ObjectRef) graph.Ref {
	return graph.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Resource: o.Resource, Namespace: o.Namespace, Name: o.Name, UID: o.UID}
}
