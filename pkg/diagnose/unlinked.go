package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// hidden returns the gaps in which something can be that the actor of a finalizer deletes; if
// awaited, only what it waits for.
func (e *linked) hidden(id graph.ID, name string, awaited bool) []v1alpha1.Gap {
	t, ok := e.Graph.Type(id)
	if !ok {
		return nil
	}
	namespace := e.Graph.Namespace(id)
	var gaps []v1alpha1.Gap
	for _, d := range e.Definitions {
		resource, _ := e.Catalog.Lookup(t.GroupResource())
		if d.Deletion.Holds(name) && (!awaited || d.Deletion.Waits != link.WaitsNever) &&
			d.From.Matches(t.Group, t.Kind, resource.Categories) {
			gaps = append(gaps, e.gapsOfLink(d, t, namespace)...)
		}
	}
	for _, f := range e.Links.Found(id) {
		if f.Definition.Deletion.Holds(name) && (f.Effect.Waits || !awaited && f.Deletes()) &&
			e.Graph.State(f.End) == graph.Unknown {
			gaps = append(gaps, e.gapsOfEnd(e.Graph.Ref(f.End))...)
		}
	}
	if known, ok := e.knownOf(id, name); ok && len(known.WaitsFor) > 0 {
		for _, gap := range e.Gaps {
			if (gap.Namespace == "" || namespace == "" || gap.Namespace == namespace) && e.canBeOf(gap, known.WaitsFor) {
				gaps = append(gaps, gap)
			}
		}
	}
	return slices.CompactFunc(gaps, func(a, b v1alpha1.Gap) bool { return a == b })
}

// gapsOfEnd is the gap in which the end of a link can be that was not seen. A kind that is proven
// not to be served has no objects.
func (e *linked) gapsOfEnd(end graph.Ref) []v1alpha1.Gap {
	if gap, ok := gapOf(e.Gaps, graph.Type{Group: end.Group(), Resource: end.Resource}, end.Namespace); ok {
		return []v1alpha1.Gap{gap}
	}
	if end.Resource == "" && !e.MayBeServed(end.Group()) {
		return nil
	}
	return []v1alpha1.Gap{{Group: end.Group(), Resource: cmp.Or(end.Resource, "*"), Namespace: end.Namespace,
		Reason: v1alpha1.GapFailed, Message: "it was not listed"}}
}

// gapsOfLink are the gaps that keep it unknown where a link leads from objects of a type: their own
// content, or the objects that a label selector would find.
func (e *linked) gapsOfLink(d *link.Definition, t graph.Type, namespace string) []v1alpha1.Gap {
	var gaps []v1alpha1.Gap
	for _, gap := range e.Unlinked {
		own := gap.Group == t.Group && gap.Resource == t.Resource && (gap.Namespace == "" || gap.Namespace == namespace)
		ends := slices.ContainsFunc(d.Ends, func(of link.Ends) bool { return e.canBeOf(gap, of.Kinds) })
		if own || ends || gap.Resource == "*" && gap.Group == "" {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

// canBeOf reports whether a gap can hold objects of some kinds. Of a group whose discovery failed
// nobody knows the kinds.
func (e *linked) canBeOf(gap v1alpha1.Gap, kinds []graph.KindPattern) bool {
	r, served := e.Catalog.Lookup(schema.GroupResource{Group: gap.Group, Resource: gap.Resource})
	return slices.ContainsFunc(kinds, func(p graph.KindPattern) bool {
		_, kind, _ := strings.Cut(string(p), "/")
		return served && p.Matches(r.Group, r.Kind) || gap.Resource == "*" && p.Matches(gap.Group, kind)
	})
}

// hiddenEnd is for an actor that can wait for what cannot be seen.
func (e *linked) hiddenEnd(id graph.ID, name string, own []core.Finding, gaps []v1alpha1.Gap) core.Finding {
	f := core.Finding{Code: core.BlockerHidden, Finalizer: name, Evidence: core.Observed(actor.GapClauses(gaps...)...),
		At: e.Graph.Ref(id)}
	for _, o := range own {
		if o.Finalizer == name {
			f.Actor, f.Cost = o.Actor, o.Cost
		}
	}
	who := cmp.Or(f.Actor, "whoever removes the finalizer")
	f.Remedy = phrase.Sentence(who+" can wait for objects that cannot be seen") + " " + e.ToSee(gaps) +
		". Do not remove the finalizer before that: what it stands for can still exist."
	return f
}
