package finalizer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Registry answers what is known of a finalizer. It does not change once it is made, and is safe
// for concurrent use. A nil one knows nothing.
type Registry struct {
	packs []Pack
	exact map[string][]Known
	forms []Known // those that are about more than one name
}

func newRegistry(packs []Pack) *Registry {
	r := &Registry{packs: packs, exact: map[string][]Known{}}
	for _, pack := range packs {
		for _, k := range pack.Finalizers {
			if k.Exact != "" {
				r.exact[k.Exact] = append(r.exact[k.Exact], k)
			} else {
				r.forms = append(r.forms, k)
			}
		}
	}
	return r
}

// With returns what both know. Where they have entries of the same id the other's counts, and where
// entries are equally near to a finalizer, the other's as well.
func (r *Registry) With(other *Registry) *Registry {
	replaced, replacedLinks, replacedPruners := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, pack := range other.Packs() {
		for _, k := range pack.Finalizers {
			replaced[k.ID] = true
		}
		for _, d := range pack.Links {
			replacedLinks[d.ID] = true
		}
		for _, p := range pack.Pruners {
			replacedPruners[p.ID] = true
		}
	}
	var packs []Pack
	for _, pack := range r.Packs() {
		pack.Finalizers = slices.DeleteFunc(slices.Clone(pack.Finalizers), func(k Known) bool { return replaced[k.ID] })
		pack.Links = slices.DeleteFunc(slices.Clone(pack.Links), func(d link.Definition) bool { return replacedLinks[d.ID] })
		pack.Pruners = slices.DeleteFunc(slices.Clone(pack.Pruners),
			func(p link.Pruner) bool { return replacedPruners[p.ID] })
		if len(pack.Finalizers)+len(pack.Links)+len(pack.Pruners) > 0 {
			packs = append(packs, pack)
		}
	}
	return newRegistry(append(packs, other.Packs()...))
}

// Packs returns all that is known, by file.
func (r *Registry) Packs() []Pack {
	if r == nil {
		return nil
	}
	return slices.Clone(r.packs)
}

// Links returns all links that the packs describe, in the order of the files. They must not be
// changed.
func (r *Registry) Links() []*link.Definition {
	var all []*link.Definition
	for _, pack := range r.Packs() {
		for i := range pack.Links {
			all = append(all, &pack.Links[i])
		}
	}
	return all
}

// Pruner returns what is known of the program of an ID that deletes what its source no longer has.
func (r *Registry) Pruner(id string) (*link.Pruner, bool) {
	for _, p := range r.pruners() {
		if p.ID == id {
			return p, true
		}
	}
	return nil, false
}

// Pruners returns the IDs that Pruner knows, in order.
func (r *Registry) Pruners() []string {
	ids := phrase.Words(r.pruners(), func(p *link.Pruner) string { return p.ID })
	slices.Sort(ids)
	return ids
}

func (r *Registry) pruners() []*link.Pruner {
	var all []*link.Pruner
	for _, pack := range r.Packs() {
		for i := range pack.Pruners {
			all = append(all, &pack.Pruners[i])
		}
	}
	return all
}

// Lookup returns what is known of a finalizer on an object of a group and kind; the group of the
// core is empty. An entry that has the very name comes before one with a prefix or suffix of it,
// the longest first, then a regular expression, and last a fallback. Of entries that are equally
// near, the one that names the kind comes before one with a pattern for it, and that before one for
// all kinds; then the last counts.
func (r *Registry) Lookup(name, group, kind string) (Known, bool) {
	if r == nil {
		return Known{}, false
	}
	of := cmp.Or(group, "v1") + "/" + kind
	var best Known
	var nearest nearness
	for _, candidates := range [][]Known{r.exact[name], r.forms} {
		for i := range candidates {
			if near := candidates[i].near(name, of); near.form > 0 && near.compare(nearest) >= 0 {
				best, nearest = candidates[i], near
			}
		}
		if nearest.form == exactly {
			break
		}
	}
	return best, nearest.form > 0
}

// nearness is how near an entry is to a finalizer on an object. Of two, the greater in the first
// field that differs is the nearer; without a form it is not about it.
type nearness struct{ form, length, kind int }

// The forms, the farthest first.
const (
	asFallback = iota + 1
	byRegex
	byEnd
	exactly
)

func (n nearness) compare(o nearness) int {
	return cmp.Or(cmp.Compare(n.form, o.form), cmp.Compare(n.length, o.length), cmp.Compare(n.kind, o.kind))
}

func (k *Known) near(name, of string) nearness {
	near := k.nearName(name)
	if near.form == 0 {
		return near
	}
	if near.kind = k.covers(of); near.kind == 0 {
		return nearness{}
	}
	return near
}

// nearName is how near an entry is to a finalizer, whatever it stands on.
func (k *Known) nearName(name string) nearness {
	var near nearness
	switch {
	case k.Exact != "":
		if k.Exact == name {
			near.form = exactly
		}
	case k.Prefix != "":
		if strings.HasPrefix(name, k.Prefix) {
			near.form, near.length = byEnd, len(k.Prefix)
		}
	case k.Suffix != "":
		if strings.HasSuffix(name, k.Suffix) {
			near.form, near.length = byEnd, len(k.Suffix)
		}
	case k.regex.MatchString(name):
		near.form = byRegex
	}
	if near.form > 0 && k.Fallback {
		near.form = asFallback
	}
	return near
}

// covers says whether an entry is about a kind, written group/Kind: 3 if it names it, 2 if a
// pattern does, 1 if it is about all kinds, 0 if not.
func (k *Known) covers(of string) int {
	most := 0
	for _, kind := range k.Kinds {
		switch {
		case kind == of:
			return 3
		case kind == "*":
			most = max(most, 1)
		default:
			if ok, err := path.Match(kind, of); err == nil && ok {
				most = 2
			}
		}
	}
	return most
}

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

// answersFor reports whether an entry is found wherever another would be. A pattern is found where
// a kind is named only if its entry is nearer by the finalizer's name.
func (k Known) answersFor(other Known, nearer bool) bool {
	return !slices.ContainsFunc(other.Kinds, func(kind string) bool {
		return !slices.ContainsFunc(k.Kinds,
			func(pattern string) bool {
				return pattern == kind || nearer && (pattern == "*" || matches(pattern, kind))
			})
	})
}

// matches reports whether a pattern covers a kind that is none itself.
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

// Component returns an entry of a component, which says by what it is seen to be alive; false if none
// has that name.
func (r *Registry) Component(name string) (Known, bool) {
	for _, pack := range r.Packs() {
		for _, k := range pack.Finalizers {
			if k.Component == name && !k.Fallback {
				return k, true
			}
		}
	}
	return Known{}, false
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
