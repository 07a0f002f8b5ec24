package selection

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/suggest"
)

// TypeFilter says which types have rows. Its patterns are globs that match the resource, the
// singular, the kind or a short name, each with or without ".group", or the group alone.
type TypeFilter struct{ include, exclude []string }

// ParseTypeFilter checks the patterns, and that each matches something, which a mistyped one does
// not.
func ParseTypeFilter(include, exclude []string, cat *cluster.Catalog) (TypeFilter, error) {
	for _, p := range slices.Concat(include, exclude) {
		if _, err := path.Match(strings.ToLower(p), ""); err != nil {
			return TypeFilter{}, fmt.Errorf("%q is no pattern: %w", p, err)
		}
		if !slices.ContainsFunc(cat.Resources, func(r cluster.Resource) bool { return matchesType(p, r) }) {
			var names []string
			for _, r := range cat.Resources {
				names = append(names, r.Resource, r.Singular)
			}
			return TypeFilter{}, answer.WithHint(fmt.Errorf("no type matches %q", p), suggest.DidYouMean(p, names))
		}
	}
	return TypeFilter{include, exclude}, nil
}

// Shows returns what says whether an object of a type has a row; nil if all have.
func (f TypeFilter) Shows(cat *cluster.Catalog) func(graph.Ref) bool {
	if len(f.include) == 0 && len(f.exclude) == 0 {
		return nil
	}
	type kind struct{ group, kind string }
	shown := map[kind]bool{}
	matches := func(r cluster.Resource) func(string) bool {
		return func(p string) bool { return matchesType(p, r) }
	}
	for _, r := range cat.Resources {
		included := len(f.include) == 0 || slices.ContainsFunc(f.include, matches(r))
		if included && !slices.ContainsFunc(f.exclude, matches(r)) {
			shown[kind{r.Group, r.Kind}] = true
		}
	}
	return func(r graph.Ref) bool { return shown[kind{r.Group(), r.Kind}] }
}

func matchesType(pattern string, r cluster.Resource) bool {
	pattern = strings.ToLower(pattern)
	match := func(name string) bool {
		ok, _ := path.Match(pattern, strings.ToLower(name)) // checked by ParseTypeFilter
		return ok
	}
	if r.Group != "" && match(r.Group) {
		return true
	}
	for _, name := range append([]string{r.Resource, r.Singular, r.Kind}, r.ShortNames...) {
		if name != "" && (match(name) || r.Group != "" && match(name+"."+r.Group)) {
			return true
		}
	}
	return false
}
