// Package explain says what is known of finalizers, and which of them are present in a cluster.
package explain

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/suggest"
)

// Question says of which finalizers something is to be explained.
type Question struct {
	// Known is what is known of finalizers.
	Known *finalizer.Registry
	// Names are finalizers; none mean all.
	Names []string
	// Component, if not empty, restricts them to those that a program of that name removes; part of
	// its name is enough.
	Component string
}

// Known says what is known of the finalizers. It asks no server. The error names those of which
// nothing is known; what is known of the others comes with it.
func Known(q Question) (*v1alpha1.Explanation, error) {
	found, err := q.find()
	if len(found) == 0 && err != nil {
		return nil, err
	}
	return &v1alpha1.Explanation{TypeMeta: v1alpha1.TypeMeta("Explanation"), Finalizers: found, Complete: true,
		Gaps: []v1alpha1.Gap{}}, err
}

// Present says which of the finalizers are on objects that were listed, and on how many.
func Present(g *graph.Graph, gaps []v1alpha1.Gap, q Question) *v1alpha1.Explanation {
	found := slices.DeleteFunc(present(g, q.Known), func(e v1alpha1.ExplainedFinalizer) bool {
		return len(q.Names) > 0 && !slices.Contains(q.Names, e.Name) || q.Component != "" &&
			!q.isOf(finalizer.Known{Component: e.Component, Actor: e.Actor})
	})
	return &v1alpha1.Explanation{
		TypeMeta: v1alpha1.TypeMeta("Explanation"), Finalizers: found, Complete: len(gaps) == 0,
		Gaps: append([]v1alpha1.Gap{}, gaps...),
	}
}

// find returns what is known of the finalizers that were named, or of all of a component. The error
// names all of which nothing is known.
func (q Question) find() ([]v1alpha1.ExplainedFinalizer, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	found := []v1alpha1.ExplainedFinalizer{}
	if len(q.Names) == 0 {
		for _, pack := range q.Known.Packs() {
			for _, k := range pack.Finalizers {
				if q.isOf(k) {
					found = append(found, k.Explained(k.Form()))
				}
			}
		}
		slices.SortStableFunc(found, func(a, b v1alpha1.ExplainedFinalizer) int {
			return strings.Compare(sortKey(a.Name), sortKey(b.Name))
		})
		return found, nil
	}
	var errs []error
	for _, name := range q.Names {
		all := slices.DeleteFunc(q.Known.Named(name), func(k finalizer.Known) bool { return !q.isOf(k) })
		if len(all) == 0 {
			errs = append(errs, answer.WithHint(fmt.Errorf("the finalizer %q is unknown", name), nearFinalizers(q.Known, name)))
		}
		for _, k := range all {
			found = append(found, k.Explained(name))
		}
	}
	return found, errors.Join(errs...)
}

// sortKey is the name of a finalizer without what regular expressions and open beginnings put in
// front.
func sortKey(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimLeft(name, "^*(/["), `\`, ""))
}

// isOf reports whether an entry is of the component that was named, if one was.
func (q Question) isOf(k finalizer.Known) bool {
	word := strings.ToLower(q.Component)
	return strings.Contains(strings.ToLower(k.Component), word) || strings.Contains(strings.ToLower(k.Actor), word)
}

// Check is an error if a component was named and there is none of that name.
func (q Question) Check() error {
	if q.Component == "" {
		return nil
	}
	for _, pack := range q.Known.Packs() {
		if slices.ContainsFunc(pack.Finalizers, q.isOf) {
			return nil
		}
	}
	hint := suggest.New(q.Component)
	for _, name := range q.Known.Components() {
		hint.Consider(name)
		for _, word := range strings.Fields(name) {
			hint.Consider(word)
		}
	}
	return answer.WithHint(fmt.Errorf("no known component has %q in its name", q.Component), hint.Hint())
}

// nearFinalizers suggests which known finalizer was meant: one that is spelt nearly so, or else one
// of which this is a part.
func nearFinalizers(known *finalizer.Registry, name string) string {
	hint := suggest.New(name)
	var containing []string
	for _, form := range known.Forms() {
		hint.Consider(form)
		if strings.Contains(strings.ToLower(form), strings.ToLower(name)) && len(containing) < suggest.Most {
			containing = append(containing, form)
		}
	}
	if text := hint.Hint(); text != "" || len(containing) == 0 {
		return text
	}
	return "did you mean " + strings.Join(containing, " or ") + "?"
}

// present counts the finalizers of a graph by what is known of them, and by the type of what has
// them. Those with most objects come first.
func present(g *graph.Graph, known *finalizer.Registry) []v1alpha1.ExplainedFinalizer {
	type entry struct{ name, id string }
	type place struct {
		entry
		apiVersion, resource string
	}
	all, places := map[entry]*v1alpha1.ExplainedFinalizer{}, map[place]*v1alpha1.FinalizersOn{}
	for id := range g.IDs() {
		for _, name := range g.Finalizers(id) {
			ref := g.Ref(id)
			k, _ := known.Lookup(name, ref.Group(), ref.Kind) // of one that is not known the id is empty
			e := entry{name, k.ID}
			if all[e] == nil {
				explained := known.Explain(name, ref)
				all[e] = &explained
			}
			p := place{e, ref.APIVersion, ref.Resource}
			if places[p] == nil {
				places[p] = &v1alpha1.FinalizersOn{APIVersion: ref.APIVersion, Kind: ref.Kind, Resource: ref.Resource}
			}
			places[p].Objects++
			if g.State(id) == graph.Deleting {
				places[p].Deleting++
			}
		}
	}
	for p, on := range places {
		all[p.entry].Found = append(all[p.entry].Found, *on)
	}
	found := []v1alpha1.ExplainedFinalizer{}
	for e := range maps.Values(all) {
		slices.SortFunc(e.Found, func(a, b v1alpha1.FinalizersOn) int {
			return cmp.Or(cmp.Compare(b.Objects, a.Objects),
				strings.Compare(fmt.Sprint(a.Resource, a.APIVersion), fmt.Sprint(b.Resource, b.APIVersion)))
		})
		found = append(found, *e)
	}
	slices.SortFunc(found, func(a, b v1alpha1.ExplainedFinalizer) int {
		return cmp.Or(cmp.Compare(objectsWith(b), objectsWith(a)), strings.Compare(a.Name, b.Name),
			strings.Compare(a.ID, b.ID))
	})
	return found
}

func objectsWith(e v1alpha1.ExplainedFinalizer) int {
	n := 0
	for _, on := range e.Found {
		n += on.Objects
	}
	return n
}
