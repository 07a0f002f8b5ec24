package tree

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Archival are objects with all their dependents, to be archived without deleting anything.
type Archival struct {
	archive.Contents
	// Roots are the objects that were meant.
	Roots []graph.ID
	// Gaps are what could not be listed, and Hiding those of them that can hide a dependent.
	Gaps, Hiding []v1alpha1.Gap
	// Unknown are objects of the tree that could not be listed.
	Unknown []graph.Ref
}

// NewArchival lists the objects of a query and all their dependents, as Look does; with links also
// what these definitions lead to. What does not belong to the objects, because only an
// unconfirmed link leads to it, is left out. An object that was named and does not exist is an error.
// It writes nothing.
func NewArchival(ctx context.Context, q *selection.Query, links bool,
	definitions func() ([]*link.Definition, error)) (*Archival, error) {
	s, err := Look(ctx, q, Options{Links: links, Definitions: definitions, Depth: -1})
	if err != nil {
		return nil, err
	}
	t := &Archival{Contents: archive.Contents{Graph: s.Graph, Links: s.Links()}, Gaps: s.Gaps}
	var owners []graph.Ref
	for _, row := range s.Rows {
		if row.Root {
			t.Roots = append(t.Roots, row.ID)
		}
		ref := s.Graph.Ref(row.ID)
		if s.Graph.State(row.ID) == graph.Unknown {
			t.Unknown = append(t.Unknown, ref)
		}
		owners = append(owners, ref)
		t.Objects = append(t.Objects, row.ID)
	}
	t.Objects = t.Listed()
	if s.Links() != nil {
		if belongs := s.Links().Belonging(t.Roots); belongs != nil {
			t.Unconfirmed = slices.DeleteFunc(slices.Clone(t.Objects), belongs)
			t.Objects = slices.DeleteFunc(t.Objects, func(id graph.ID) bool { return !belongs(id) })
		}
	}
	t.Hiding = s.Graph.Hiding(s.Gaps, owners...)
	return t, nil
}

// Complete reports whether the tree has all dependents.
func (t *Archival) Complete() bool { return len(t.Hiding) == 0 && len(t.Unknown) == 0 }

// Refused returns why the tree must not be archived, unless an incomplete archive is allowed; nil
// if it may.
func (t *Archival) Refused() error {
	switch hint := "--allow-incomplete archives what could be listed"; {
	case len(t.Hiding) > 0:
		return answer.Refuse(
			answer.WithHint(errors.New("nothing was archived: types that may contain dependents could not be listed"), hint))
	case len(t.Unknown) > 0:
		return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was archived: whether %s exists could not be found out",
			t.Unknown[0].Located()), hint))
	}
	return nil
}

// Save writes the archive of the tree. The error is a refusal if an object cannot be read, or if
// there is no object, and otherwise about the file.
func (t *Archival) Save(ctx context.Context, client *cluster.Client, path string) (*archive.Saved, error) {
	if len(t.Objects) == 0 {
		return nil, answer.Refuse(errors.New("nothing was archived: no objects were found"))
	}
	saved, err := archive.Save(ctx, client, path, t.Contents, t.head())
	if err != nil {
		return nil, archive.NotSaved(ctx, err, "nothing was archived", "")
	}
	saved.Gaps = !t.Complete()
	return saved, nil
}

// head is the plan of an archive of a tree of which nothing is deleted.
func (t *Archival) head() *v1alpha1.Plan {
	head := v1alpha1.NewPlan(t.Gaps)
	head.Complete, head.Roots, head.Objects = t.Complete(), t.Graph.Refs(t.Roots), t.Graph.Refs(t.Objects)
	if len(t.Unconfirmed) > 0 {
		head.Unconfirmed = t.Graph.Refs(t.Unconfirmed)
	}
	return head
}
