package tree

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
)

const clearScreen = "\x1b[H\x1b[2J\x1b[3J"

func run(ctx context.Context, o *Options) error {
	if o.Against != "" {
		return o.compare(ctx)
	}
	q, err := o.Query(ctx, &o.Objects, o.Args)
	if err != nil {
		return err
	}
	filter, err := selection.ParseTypeFilter(o.Types, o.Exclude, q.Catalog)
	if err != nil {
		return err
	}
	q.Scope = q.ListingScope(o.Owners)
	opts := tree.Options{Owners: o.Owners, Depth: o.Depth, Links: o.FollowLinks, Definitions: o.Links,
		Shows: filter.Shows(q.Catalog), Drawn: o.drawn(), Labels: o.ShowLabels, NoRows: o.Output.Format() == "name" &&
			!o.Watch, Sums: o.Sums}
	if o.Watch {
		return o.watch(ctx, q, opts)
	}
	s, err := tree.Look(ctx, q, opts)
	if err == nil {
		err = q.Nothing(ctx, s.Snapshot)
	}
	if err != nil {
		return err
	}
	render.WarnGaps(o.ErrOut, s.Gaps)
	if opts.NoRows {
		none := true
		err := o.Print(ctx, func() (err error) { none, err = o.names(s); return err })
		if err == nil && none {
			o.nothing(q, s)
		}
		return err
	}
	if len(s.Rows) == 0 && o.Output.IsOwn() {
		o.nothing(q, s)
		return nil
	}
	if o.Output.Format() == "html" {
		return o.page(ctx, q, s)
	}
	return o.Print(ctx, func() error { return o.print(s) })
}

// names prints the names of the objects of a tree, and reports whether it has no rows.
func (o *Options) names(s *tree.Snapshot) (none bool, err error) {
	none = true
	err = render.RowNames(o.Out, s.Graph, func(yield func(graph.Row) bool) {
		for row := range s.Walk() {
			if none = false; !yield(row) {
				return
			}
		}
	})
	return none, err
}

// watch draws the tree whenever it has changed, on a terminal in the place of the last one.
func (o *Options) watch(ctx context.Context, q *selection.Query, opts tree.Options) error {
	drawn := false
	err := tree.Watch(ctx, q, opts, func(s *tree.Snapshot) error {
		switch {
		case printers.IsTerminal(o.Out):
			fmt.Fprint(o.Out, clearScreen)
		case drawn:
			fmt.Fprintln(o.Out)
		}
		if !drawn {
			render.WarnGaps(o.ErrOut, s.Gaps)
		}
		drawn = true
		return o.Print(ctx, func() error { return o.print(s) })
	})
	if errors.Is(err, tree.ErrGone) {
		fmt.Fprintln(o.ErrOut, "Nothing is left of it.")
		return nil
	}
	return err
}

// drawn picks the rows of which READY and STATUS are printed; nil for the formats that have no
// place for them.
func (o *Options) drawn() func([]graph.Row) []graph.Row {
	switch o.Output.Format() {
	case "name", "dot", "mermaid":
		return nil
	case "", "wide":
		return o.Style(o.Output).Drawn
	}
	return func(rows []graph.Row) []graph.Row { return rows }
}

func (o *Options) shown(s *tree.Snapshot) render.Tree {
	return render.Tree{Graph: s.Graph, Rows: s.Rows, Readings: s.Readings, Labels: s.Labels, Sums: s.Sums,
		Gaps: len(s.Gaps) > 0, Now: o.Now()}
}

func (o *Options) print(s *tree.Snapshot) error {
	t := o.shown(s)
	switch o.Output.Format() {
	case "", "wide":
		return render.TreeTable(o.Out, t, o.Style(o.Output))
	case "name":
		_, err := o.names(s)
		return err
	case "dot":
		return render.TreeDOT(o.Out, t)
	case "mermaid":
		return render.TreeMermaid(o.Out, t)
	case "json":
		o.Output.Of(s)
		return s.WriteJSON(o.Out)
	}
	return o.Output.Write(o.Out, s.Printed())
}

// nothing says so in kubectl's words, unless there may be something in a gap.
func (o *Options) nothing(q *selection.Query, s *tree.Snapshot) {
	found := "No resources found"
	if len(s.Gaps) > 0 {
		found = "No resources found in the types that could be listed"
	}
	if q.Scope == "" {
		fmt.Fprintln(o.ErrOut, found)
		return
	}
	fmt.Fprintf(o.ErrOut, "%s in %s namespace.\n", found, render.Escape(q.Scope))
}

// page prints the tree as a page for the browser.
func (o *Options) page(ctx context.Context, q *selection.Query, s *tree.Snapshot) error {
	return o.Page(ctx, q.Client, q.Catalog, render.TreePage(o.title(q.Scope), o.shown(s), s.Gaps, o.Owners))
}

// title is the command without what says how it prints.
func (o *Options) title(namespace string) string {
	words := append([]string{"kubectl", "gc", "tree"}, o.Args...)
	if o.Objects.Selector != "" {
		words = append(words, "-l", o.Objects.Selector)
	}
	switch {
	case o.Objects.AllNamespaces:
		words = append(words, "-A")
	case namespace != "":
		words = append(words, "-n", namespace)
	}
	if o.Owners {
		words = append(words, "--owners")
	}
	return phrase.Command(words...)
}

// compare says what has changed since the time of what --against names, or until then if that is
// later.
func (o *Options) compare(ctx context.Context) error {
	namespace, err := o.Namespace()
	if err != nil {
		return err
	}
	against, err := o.Other(ctx, "against", o.Against, namespace)
	if err != nil {
		return err
	}
	now, missingNow, err := o.listed(ctx, o.Env)
	if err != nil {
		return err
	}
	then, missingThen, err := o.listed(ctx, against)
	if err != nil {
		return err
	}
	if missingNow != nil && missingThen != nil { // a namespace that is there at neither time is mistyped
		return missingNow
	}
	if !o.TimeIsKnown() || !against.TimeIsKnown() {
		render.WarnOrder(o.ErrOut, then.Moment, now.Moment)
	} else if then.At.After(now.At.Time) {
		then, now = now, then
	}
	if o.Objects.AllNamespaces {
		namespace = ""
	}
	c := tree.Compare(then, now, namespace)
	render.WarnComparison(o.ErrOut, c)
	return o.Print(ctx, func() error {
		if o.Output.IsOwn() {
			return render.Comparison(o.Out, c, o.Style(o.Output))
		}
		return o.Output.Write(o.Out, c)
	})
}

// listed lists what is in scope of a cluster, or of a dump. Missing is the error that the namespace
// does not exist.
func (o *Options) listed(ctx context.Context, e *env.Env) (side tree.Side, missing, err error) {
	q, err := e.Query(ctx, &o.Objects, nil)
	if err != nil {
		return side, nil, err
	}
	s, err := q.List(ctx)
	if err != nil {
		return side, nil, err
	}
	whose, err := q.Client.Identity(ctx)
	if err != nil {
		return side, nil, err
	}
	_, server := e.Cluster()
	side = tree.Side{Graph: s.Graph, Gaps: s.Gaps, Omits: q.Catalog.Omits,
		Serves: func(of schema.GroupResource) bool {
			t, ok := q.Catalog.Lookup(of)
			return ok && t.Deletable()
		},
		Moment: v1alpha1.Moment{Source: server, At: metav1.Time{Time: q.Client.Now().UTC()}, Cluster: whose}}
	return side, selection.NamespaceExists(ctx, q.Client, q.Catalog, s.Graph, q.Scope), nil
}
