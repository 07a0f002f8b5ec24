package finalizer

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Explained is the entry of a pack as it is printed, under the name that was asked for.
func (k Known) Explained(name string) v1alpha1.ExplainedFinalizer {
	e := v1alpha1.ExplainedFinalizer{
		Name: name, Known: !k.Fallback, Form: k.Form(), ByFormOnly: k.Fallback, ID: k.ID, Pack: k.Pack, Kinds: k.Kinds,
		Field:     string(k.Field),
		Component: k.Component, Actor: k.Actor, Does: k.Does, IfRemoved: k.IfRemoved, Risk: string(k.Risk),
		Polarity: string(k.Polarity),
		Before:   k.Before, Knob: k.Knob, Claims: k.PVCs, Note: k.Note, Signs: k.explainedSigns(name),
		Verified: string(k.Verified), Source: k.Source,
	}
	for _, s := range k.Protect {
		e.Protect = append(e.Protect, v1alpha1.ProtectStep(s))
	}
	for _, p := range k.PausedBy {
		e.PausedBy = append(e.PausedBy, v1alpha1.PausedBy(p))
	}
	for _, t := range k.Takes {
		takes := v1alpha1.Takes{IfAbsent: t.IfAbsent, Where: clauses(t.Where), Until: t.Until, Remedy: t.Remedy}
		if t.Of != nil {
			takes.Of = &explainedNeeds([]Need{*t.Of})[0]
		}
		e.Takes = append(e.Takes, takes)
	}
	e.Needs = explainedNeeds(k.Needs)
	for _, h := range k.HeldBy {
		e.HeldBy = append(e.HeldBy, v1alpha1.HeldBy{By: h.Held(), Where: clauses(h.Where),
			UnlessDeleted: explainedNeeds(h.UnlessDeleted), Waits: h.Waits, Remedy: h.Remedy})
	}
	for _, u := range k.UsedBy {
		e.UsedBy = append(e.UsedBy, v1alpha1.RelatedKind{
			Group: u.Group, Kind: u.Kind, KindField: u.KindField, ForField: u.ForField, Name: u.Name, NameField: u.NameField,
			NamespaceField: u.NamespaceField, Scope: string(u.Scope), Where: clauses(u.Where), Until: u.Until,
		})
	}
	for _, kind := range k.WaitsFor {
		e.WaitsFor = append(e.WaitsFor, string(kind))
	}
	if p := k.Parent; p != nil {
		e.Parent = &v1alpha1.RelatedKind{Group: p.Group, Kind: p.Kind, Name: k.filledFor(name)([]string{p.Name})[0],
			Scope: string(p.Scope), Selectors: p.Selectors}
	}
	return e
}

func explainedNeeds(needs []Need) []v1alpha1.RelatedKind {
	var all []v1alpha1.RelatedKind
	for _, n := range needs {
		all = append(all, v1alpha1.RelatedKind{
			Group: n.Group, Kind: n.Kind, KindField: n.KindField, Name: n.Name, NameField: n.At(n.NameField),
			NamespaceField: n.NamespaceField, Scope: string(n.Scope),
			Where: clauses(n.Where), Needs: explainedNeeds(n.Needs),
		})
	}
	return all
}

func clauses(conditions []link.Condition) []string {
	return phrase.Words(conditions, link.Condition.String)
}

func (k Known) explainedSigns(name string) *v1alpha1.Signs {
	a, fill := k.Alive, k.filledFor(name)
	return &v1alpha1.Signs{
		Deployments: fill(a.Deployments), StatefulSets: fill(a.StatefulSets), DaemonSets: fill(a.DaemonSets),
		Labels: fill(a.Labels), Images: fill(a.Images),
		Leases: fill(a.Leases), APIServices: fill(a.APIServices), Webhooks: fill(a.Webhooks), Unverified: fill(a.Unverified),
		SameNamespace: a.Instance.Namespace, SameLabel: a.Instance.Label, Outside: a.Outside, Follow: string(a.Follow),
		Note: a.Note,
	}
}

// filledFor fills what the finalizer alone says of patterns; what the object would say stays open.
func (k Known) filledFor(name string) func([]string) []string {
	if name == k.Form() {
		return func(patterns []string) []string { return patterns }
	}
	return func(patterns []string) []string {
		return phrase.Words(patterns, func(p string) string {
			text, _ := k.Fill(p, Object{Finalizer: name})
			return text
		})
	}
}

// Explain says what is known of a finalizer on an object. Of one that is not known it has the name
// only.
func (r *Registry) Explain(name string, of graph.Ref) v1alpha1.ExplainedFinalizer {
	k, isKnown := r.Lookup(name, of.Group(), of.Kind)
	if !isKnown {
		return v1alpha1.ExplainedFinalizer{Name: name}
	}
	return k.Explained(name)
}
