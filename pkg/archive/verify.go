package archive

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Summary says what is in an archive.
type Summary struct {
	// Head is the plan that the archive was written for.
	Head *v1alpha1.Plan
	// Objects are what it holds, in its order.
	Objects []graph.Ref
	// Missing are the objects that its plan names and that it does not hold. If the archive is
	// whole, they were gone when it was written.
	Missing []graph.Ref
	// Damage is an ErrNotWhole, or nil for an archive that is whole.
	Damage error
}

// errUnmarked is of an archive of which nothing but its plan says what it should hold.
var errUnmarked = fmt.Errorf(
	"%w, or objects were gone when it was written: the version of kubectl gc that wrote it did not mark the end",
	ErrNotWhole)

// Verify reads an archive to its end and compares it with its plan. The error names the file and
// the line of what cannot be read, or of an object that is there twice. That objects are lost at
// the end of the archive is its Damage, and no error.
func Verify(path string) (*Summary, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &Summary{Head: r.Head}
	for {
		o, _, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, ErrNotWhole) {
			s.Damage = err
			break
		}
		if err != nil {
			return nil, err
		}
		s.Objects = append(s.Objects, graph.RefOf(o))
	}
	s.compare(r.lines)
	if s.Damage == nil && r.Head.Archived == nil && len(s.Missing) > 0 {
		s.Damage = fmt.Errorf("%s: %w", path, errUnmarked)
	}
	return s, nil
}

// compare finds what is missing; lines has the uids of what is there.
func (s *Summary) compare(lines map[string]int) {
	seen := map[string]bool{}
	for o := range Named(s.Head) {
		if _, held := lines[o.UID]; !held && !seen[o.UID] {
			seen[o.UID] = true
			s.Missing = append(s.Missing, o)
		}
	}
}

// Named are the objects that a plan names as those that an archive of it has; some come more than
// once.
func Named(head *v1alpha1.Plan) iter.Seq[v1alpha1.ObjectRef] {
	left := map[string]bool{}
	for _, o := range head.Unconfirmed {
		left[o.UID] = true
	}
	return func(all func(v1alpha1.ObjectRef) bool) {
		yield := func(o v1alpha1.ObjectRef) bool { return left[o.UID] || all(o) }
		for _, all := range [][]v1alpha1.ObjectRef{head.Roots, head.Objects, head.Deleted} {
			for _, o := range all {
				if !yield(o) {
					return
				}
			}
		}
		for _, a := range head.Actions {
			if !yield(a.Object) {
				return
			}
		}
	}
}

// Printed returns an archive that was just written as the versioned object that -o json prints.
func (s *Saved) Printed() *v1alpha1.Archive {
	out := printed(s.File, s.Head)
	out.Objects, out.Missing, out.Whole = printedRefs(s.Refs, nil), printedRefs(s.Gone, nil), true
	return out
}

// Printed returns what is in a file as the versioned object that -o json prints.
func (s *Summary) Printed(file string) *v1alpha1.Archive {
	out := printed(file, s.Head)
	resources := map[string]string{}
	for r := range Named(s.Head) {
		resources[r.UID] = r.Resource
	}
	out.Objects, out.Missing, out.Whole = printedRefs(s.Objects, resources), printedRefs(s.Missing, nil), s.Damage == nil
	if s.Damage != nil {
		out.Damage = s.Damage.Error()
	}
	return out
}

func printed(file string, head *v1alpha1.Plan) *v1alpha1.Archive {
	out := &v1alpha1.Archive{
		TypeMeta: v1alpha1.TypeMeta("Archive"), File: file, Cluster: head.Cluster, ArchivedAt: head.ArchivedAt,
		Policy: head.Policy, Actions: len(head.Actions),
		Roots: append([]v1alpha1.ObjectRef{}, head.Roots...), Complete: head.Complete,
		Gaps: append([]v1alpha1.Gap{}, head.Gaps...),
	}
	if head.Cluster != "" && head.ArchivedAt != nil { // the file does not say under which name it was asked
		out.SetClusterRef(v1alpha1.ClusterRef{UID: head.Cluster, ObservedAt: *head.ArchivedAt})
	}
	return out
}

// printedRefs are objects as they are printed; resources has the names of types by the uids of
// objects whose own type is not known.
func printedRefs(all []graph.Ref, resources map[string]string) []v1alpha1.ObjectRef {
	out := append([]v1alpha1.ObjectRef{}, all...)
	for i, r := range out {
		if r.Resource == "" {
			out[i].Resource = resources[r.UID]
		}
	}
	return out
}
