package render

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// namer names kinds: with their group only where two groups of the same tree have a kind of that
// name.
type namer struct{ ambiguous map[string]bool }

func newNamer(t Tree) namer {
	groups := map[string]string{}
	n := namer{ambiguous: map[string]bool{}}
	for _, row := range t.Rows {
		r := t.Graph.Ref(row.ID)
		if group, seen := groups[r.Kind]; seen && group != r.Group() {
			n.ambiguous[r.Kind] = true
		}
		groups[r.Kind] = r.Group()
	}
	return n
}

func (n namer) kind(r graph.Ref) string {
	if n.ambiguous[r.Kind] && r.Group() != "" {
		return r.Kind + "." + r.Group()
	}
	return r.Kind
}

// RowNames writes one line for each object of the rows of a tree, as kubectl's -o name does:
// kind.group/name.
func RowNames(w io.Writer, g *graph.Graph, rows iter.Seq[graph.Row]) error {
	return writeNames(w, func(yield func(graph.ID) bool) {
		written := make([]bool, g.Len()) // a row that --depth cuts can come again, nearer to a root
		for row := range rows {
			if row.Hidden || written[row.ID] || !g.Observed(row.ID) {
				continue
			}
			written[row.ID] = true
			if !yield(row.ID) {
				return
			}
		}
	}, g.Ref)
}

// Names writes the names of objects, one in a line.
func Names(w io.Writer, g *graph.Graph, ids []graph.ID) error {
	return writeNames(w, slices.Values(ids), g.Ref)
}

// writeNames writes the names of the objects that items are about.
func writeNames[T any](w io.Writer, items iter.Seq[T], of func(T) graph.Ref) error {
	out := bufio.NewWriter(w)
	for item := range items {
		if _, err := out.WriteString(TypeName(of(item)) + "\n"); err != nil {
			return err
		}
	}
	return out.Flush()
}

// FinalizersOf names finalizers of an object, each with who removes it where that is known.
func FinalizersOf(r graph.Ref, finalizers []string, known *finalizer.Registry) string {
	var names []string
	for _, f := range finalizers {
		if k, ok := known.Lookup(f, r.Group(), r.Kind); ok && !k.Fallback {
			f += " of " + k.Who()
		}
		names = append(names, f)
	}
	if len(names) == 0 {
		return "terminating"
	}
	return "finalizer " + Escape(strings.Join(names, ", "))
}

// Paused is a line about why a watch collects nothing for now; of nil, that it goes on.
func Paused(err error) string {
	var loss *collect.OwnerLossError
	switch {
	case err == nil:
		return "collecting again"
	case errors.As(err, &loss):
		return fmt.Sprintf(
			"Warning: nothing is collected while %s; if you want their dependents collected, start again with --allow-mass-collection", Escape(loss.Error()))
	}
	return "Warning: nothing is collected until the server answers again: " + Escape(Shorten(err.Error()))
}

// EventWritten is a line about the Event of a reference to an owner in another namespace, which may
// have been refused.
func EventWritten(dependent graph.Ref, err error) string {
	object := Quoted(dependent)
	if err != nil {
		return fmt.Sprintf("warning: writing an event about %s: %s", object, Escape(err.Error()))
	}
	return object + ": event OwnerRefInvalidNamespace written"
}
