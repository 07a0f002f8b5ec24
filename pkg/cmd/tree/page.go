package tree

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
)

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
