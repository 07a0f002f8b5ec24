package render

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
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
	return "Warning: nothing is collected until the server answers again: " + Escape(phrase.Shorten(err.Error()))
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

// Listed is an entry of a list in which one is chosen: in a line of so many columns, and all that
// is said of it.
type Listed struct{ Line, Screen func(columns int) string }

// listed is an entry whose screen is scrolled, so that nothing is left out of it.
func listed(s Style, line func(columns int) string, write func(io.Writer, Style)) Listed {
	return Listed{Line: func(columns int) string { return s.drawn(line(columns)) }, Screen: func(columns int) string {
		var out bytes.Buffer
		style := s
		style.Width, style.Wide = columns, true
		write(&out, style)
		return out.String()
	}}
}

// Cause is one cause of a diagnosis with all of its objects, or an object without a cause.
type Cause struct {
	Listed
	// Step is the first step of the remedy, and Commands are its own: one for each object, unless it
	// is the same for all. There are none where there is no step.
	Step     v1alpha1.Step
	Commands []string
	// Object is the name of what the cause lies in, the first of several.
	Object string
}

// Causes are those of a diagnosis: what has none, and then in the order of the overview.
func Causes(d *v1alpha1.Diagnosis, now time.Time, s Style) []Cause {
	var all []Cause
	for _, stuck := range d.Stuck {
		if isUnexplained(stuck) {
			all = append(all, Cause{Listed: listed(s,
				func(columns int) string { return brief(withoutCause(stuck), columns) },
				func(w io.Writer, s Style) { unexplained(w, stuck, now, s) })})
		}
	}
	for _, t := range byHarm(troubles(d)) {
		c := Cause{Object: t.Object.Name, Listed: listed(s, t.line,
			func(w io.Writer, s Style) { t.write(w, now, s) })}
		if len(t.Steps) > 0 {
			c.Step, c.Commands = t.Steps[0], t.commands(0)
		}
		all = append(all, c)
	}
	return all
}

// UnfinalizeChoices are the finalizers of a plan, in the order of its rows.
func UnfinalizeChoices(p *unfinalize.Planned, s Style) []Listed {
	var all []Listed
	for _, r := range p.Rows() {
		words, _ := assessmentWords(r.Assessment, p.Overrides)
		what := qualified(r.Candidate.Ref) + ": " + cmp.Or(Escape(r.Assessment.Name), "no finalizer")
		verdict := " (" + words + ")"
		all = append(all, listed(s,
			func(columns int) string { return brief(what, max(columns-width(verdict), leastWidth)) + verdict },
			func(w io.Writer, s Style) {
				lines := explainFinalizer(r.Candidate, r.Assessment, p.Overrides)
				_ = Paragraphs(w, append([]string{what + verdict}, lines...), s) // to memory, which cannot fail
			}))
	}
	return all
}

// Escape makes text that an object or a server supplied safe to print on one line of a terminal.
func Escape(s string) string { return phrase.Escape(s) }

// Quoted names an object as kubectl's messages do: deployment.apps "web" in shop namespace.
func Quoted(r graph.Ref) string { return Escape(r.Quoted()) }

// deletedFrom says of an object that it is deleted, as kubectl delete does: deployment.apps "web"
// deleted from shop namespace.
func deletedFrom(r graph.Ref) string { return Escape(r.DeletedFrom()) }

// KindName names an object as the tree does: Deployment/web.
func KindName(r graph.Ref) string { return Escape(r.KindName()) }

// kindNames names objects as the tree does.
func kindNames(refs ...graph.Ref) []string {
	return phrase.Words(refs, KindName)
}

// KindNamesOf names objects of a graph as the tree does.
func KindNamesOf(g *graph.Graph, ids []graph.ID) []string {
	return phrase.Words(ids, func(id graph.ID) string { return KindName(g.Ref(id)) })
}

// TypeName names an object as kubectl's -o name does: deployment.apps/web.
func TypeName(r graph.Ref) string { return Escape(r.TypeName()) }

// groups are what is to be said of items, by what they have in common: of says both of an item. They
// come in the order in which the keys come up.
func groups[T any, K comparable, V any](items []T, of func(T) (K, V)) iter.Seq2[K, []V] {
	var keys []K
	values := map[K][]V{}
	for _, item := range items {
		key, value := of(item)
		if values[key] == nil {
			keys = append(keys, key)
		}
		values[key] = append(values[key], value)
	}
	return func(yield func(K, []V) bool) {
		for _, key := range keys {
			if !yield(key, values[key]) {
				return
			}
		}
	}
}
