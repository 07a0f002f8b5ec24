package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
)

// Tree are objects with all their dependents, to be archived without deleting anything.
type Tree struct {
	Contents
	// Roots are the objects that were meant.
	Roots []graph.ID
	// Gaps are what could not be listed, and Hiding those of them that can hide a dependent.
	Gaps, Hiding []v1alpha1.Gap
	// Unknown are objects of the tree that could not be listed.
	Unknown []graph.Ref
}

// LookAt lists the objects of a query and all their dependents, as pkg/tree shows them; with links
// also what these definitions lead to. What does not belong to the objects, because only an
// unconfirmed link leads to it, is left out. An object that was named and does not exist is an error.
// It writes nothing.
func LookAt(ctx context.Context, q *selection.Query, links bool,
	definitions func() ([]*link.Definition, error)) (*Tree, error) {
	s, err := tree.Look(ctx, q, tree.Options{Links: links, Definitions: definitions, Depth: -1})
	if err != nil {
		return nil, err
	}
	t := &Tree{Contents: Contents{Graph: s.Graph, Links: s.Links()}, Gaps: s.Gaps}
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
	t.Objects = t.listed()
	if s.Links() != nil {
		if belongs := s.Links().Belonging(t.Roots); belongs != nil {
			t.Unconfirmed = slices.DeleteFunc(slices.Clone(t.Objects), belongs)
			t.Objects = slices.DeleteFunc(t.Objects, func(id graph.ID) bool { return !belongs(id) })
		}
	}
	t.Hiding = plan.Hiding(s.Graph, s.Gaps, owners...)
	return t, nil
}

// Complete says whether the tree has all dependents.
func (t *Tree) Complete() bool { return len(t.Hiding) == 0 && len(t.Unknown) == 0 }

// Refused returns why the tree must not be archived, unless an incomplete archive is allowed; nil
// if it may.
func (t *Tree) Refused() error {
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
func (t *Tree) Save(ctx context.Context, client *cluster.Client, path string) (*Saved, error) {
	if len(t.Objects) == 0 {
		return nil, answer.Refuse(errors.New("nothing was archived: no objects were found"))
	}
	saved, err := Save(ctx, client, path, t.Contents, t.head())
	switch {
	case err == nil:
		return saved, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, new(*cluster.UnreadError)):
		return nil, answer.Refuse(fmt.Errorf("nothing was archived: the archive would be incomplete: %w", err))
	}
	return nil, fmt.Errorf("nothing was archived: writing the archive: %w", err)
}
