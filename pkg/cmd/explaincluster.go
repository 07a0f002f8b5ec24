package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// runInCluster lists everything and shows the finalizers that are there, or those of them that were named.
func (f *explainFlags) runInCluster(ctx context.Context, known *finalizer.Registry, names []string) error {
	if f.component != "" {
		if err := f.checkComponent(known); err != nil {
			return err
		}
	}
	tree := treeFlags{common: f.common, roots: rootFlags{allNamespaces: true}}
	req, err := tree.request(ctx, nil, nil)
	if err != nil {
		return err
	}
	g, listed, err := req.list(ctx, f.ErrOut)
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(present(g, known), func(e v1alpha1.ExplainedFinalizer) bool {
		return len(names) > 0 && !slices.Contains(names, e.Name) || f.component != "" && !f.isOf(finalizer.Known{Component: e.Component, Actor: e.Actor})
	})
	e := &v1alpha1.Explanation{
		TypeMeta: v1alpha1.TypeMeta("Explanation"), Finalizers: found, Complete: len(listed.Gaps) == 0, Gaps: append([]v1alpha1.Gap{}, listed.Gaps...),
	}
	warnGaps(f.ErrOut, e.Gaps)
	if _, err := interruptible(ctx, func() (any, error) { return nil, f.print(e) }); err != nil {
		return err
	}
	if !e.Complete {
		return refusal{errors.New("incomplete: finalizers of what could not be listed are not among these")}
	}
	return nil
}

// present counts the finalizers of a graph by what is known of them, and by the type of what has them. Those with most objects come first.
func present(g *graph.Graph, known *finalizer.Registry) []v1alpha1.ExplainedFinalizer {
	type entry struct{ name, id string }
	type place struct {
		entry
		apiVersion, resource string
	}
	all, places := map[entry]*v1alpha1.ExplainedFinalizer{}, map[place]*v1alpha1.FinalizersOn{}
	for id := range graph.ID(g.Len()) {
		for _, name := range g.Finalizers(id) {
			ref := g.Ref(id)
			k, isKnown := known.Lookup(name, ref.Group(), ref.Kind)
			if !isKnown {
				k = finalizer.Known{}
			}
			e := entry{name, k.ID}
			if all[e] == nil {
				all[e] = &v1alpha1.ExplainedFinalizer{Name: name}
				if isKnown {
					*all[e] = explained(name, k)
				}
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
			return cmp.Or(cmp.Compare(b.Objects, a.Objects), strings.Compare(fmt.Sprint(a.Resource, a.APIVersion), fmt.Sprint(b.Resource, b.APIVersion)))
		})
		found = append(found, *e)
	}
	slices.SortFunc(found, func(a, b v1alpha1.ExplainedFinalizer) int {
		return cmp.Or(cmp.Compare(objectsWith(b), objectsWith(a)), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
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
