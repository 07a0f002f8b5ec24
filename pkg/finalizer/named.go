package finalizer

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Named returns all that is known of a finalizer on whatever kinds of objects, the nearest first.
// An entry is left out if nearer ones answer for all its kinds. The name may also be the Form of an
// entry.
func (r *Registry) Named(name string) []Known {
	type candidate struct {
		Known
		nearness
		at int
	}
	var all, kept []candidate
	for _, pack := range r.Packs() {
		for _, k := range pack.Finalizers {
			near := k.nearName(name)
			if k.Form() == name {
				near.form = exactly
			}
			if near.form > 0 {
				all = append(all, candidate{k, near, len(all)})
			}
		}
	}
	// What was read last counts, so that it comes first of those that are equally near, until it is
	// known which count.
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(b.compare(a.nearness), cmp.Compare(b.at, a.at)) })
	for _, c := range all {
		if c.Fallback && len(kept) > 0 ||
			slices.ContainsFunc(kept, func(nearer candidate) bool {
				return nearer.answersFor(c.Known, nearer.compare(c.nearness) > 0)
			}) {
			continue
		}
		kept = append(kept, c)
	}
	slices.SortFunc(kept, func(a, b candidate) int { return cmp.Or(b.compare(a.nearness), cmp.Compare(a.at, b.at)) })
	known := make([]Known, len(kept))
	for i, c := range kept {
		known[i] = c.Known
	}
	return known
}

// answersFor says whether an entry is found wherever another would be. A pattern is found where a
// kind is named only if its entry is nearer by the finalizer's name.
func (k Known) answersFor(other Known, nearer bool) bool {
	return !slices.ContainsFunc(other.Kinds, func(kind string) bool {
		return !slices.ContainsFunc(k.Kinds,
			func(pattern string) bool {
				return pattern == kind || nearer && (pattern == "*" || matches(pattern, kind))
			})
	})
}

// matches says whether a pattern covers a kind that is none itself.
func matches(pattern, kind string) bool {
	ok, err := path.Match(pattern, kind)
	return ok && err == nil && !strings.Contains(kind, "*")
}

// Forms returns the names and forms of all finalizers that are known, each once and sorted, without
// those that only have a form.
func (r *Registry) Forms() []string {
	var all []string
	for _, pack := range r.Packs() {
		for _, k := range pack.Finalizers {
			if !k.Fallback {
				all = append(all, k.Form())
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Components returns the names of all components, each once and sorted.
func (r *Registry) Components() []string {
	var all []string
	for _, pack := range r.Packs() {
		for _, k := range pack.Finalizers {
			all = append(all, k.Component)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
