package finalizer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Known is what is known of one finalizer, or of all whose name has a form, on some kinds of
// objects. Its slices belong to the Registry that it comes from and must not be changed.
type Known struct {
	// ID names the entry. An entry of the same ID that is loaded later takes its place.
	ID string `json:"id"`
	// One of these says which finalizers it is about: the name, how it begins, how it ends, or a
	// regular expression.
	Exact  string `json:"exact,omitempty"`
	Prefix string `json:"prefix,omitempty"`
	Suffix string `json:"suffix,omitempty"`
	Regex  string `json:"regex,omitempty"`
	// Fallback means that nothing but the form of the name speaks for it. It counts when no other
	// entry does.
	Fallback bool `json:"fallback,omitempty"`
	// Kinds are patterns as path.Match has them: "v1/Pod", "apps/*", "*.azure.com/*",
	// "*/ServiceExport", or "*" for all.
	Kinds []string `json:"kinds"`
	// Field is where the finalizer stands, empty for InMetadata.
	Field Field `json:"field,omitempty"`
	// Component is the program that removes the finalizer. Actor is the part of it that does, and
	// is the Component if the pack does not say.
	Component string `json:"component"`
	Actor     string `json:"actor,omitempty"`
	// Does is what the actor does before it removes the finalizer, or waits for: "deletes the load
	// balancer".
	Does string `json:"does"`
	// IfRemoved is what happens when the finalizer is removed without that: "the load balancer
	// leaks".
	IfRemoved string `json:"ifRemoved"`
	// Risk is how much that costs.
	Risk Risk `json:"risk"`
	// Polarity says what honouring the finalizer means, and so which way keeps things.
	Polarity Polarity `json:"polarity"`
	// Before is what to do before it is removed, in sentences; empty if nothing is known.
	Before string `json:"before,omitempty"`
	// Knob is a setting that makes the actor keep what it would delete; empty if none is known.
	Knob string `json:"knob,omitempty"`
	// Note is what else there is to say, in sentences.
	Note string `json:"note,omitempty"`
	// Protect are steps to take before anything that destroys the data behind the object.
	Protect []Step `json:"protect,omitempty"`
	// PVCs is a label selector, in which placeholders may stand, of the PersistentVolumeClaims in
	// the namespace of the object that the actor deletes before it removes the finalizer; empty if
	// it deletes none, or only those that the object owns.
	PVCs string `json:"claims,omitempty"`
	// PausedBy is where an object says that its actor ignores it. One of them is enough.
	PausedBy []Pause `json:"pausedBy,omitempty"`
	// Spares are alternatives of conditions on the object; where all of one are met, the actor
	// leaves what it manages outside the cluster.
	Spares [][]link.Condition `json:"spares,omitempty"`
	// DeletesNothing are such alternatives where it deletes nothing before it removes the finalizer.
	DeletesNothing [][]link.Condition `json:"deletesNothing,omitempty"`
	// Decides are the fields that tell the actor what to do with what it manages outside the
	// cluster, and that identify it there.
	Decides []Decision `json:"decides,omitempty"`
	// External is what the object stands for outside the cluster, and where it says how that is called
	// there.
	External []External `json:"external,omitempty"`
	// Creates is what the actor has to create in the namespace of the object before it removes the
	// finalizer: "a Job". Empty if that is nothing.
	Creates string `json:"creates,omitempty"`
	// Needs are objects without which the actor cannot do its work, so that the finalizer stays
	// although the actor is alive.
	Needs []Need `json:"needs,omitempty"`
	// FreedBy is another component, which removes the finalizer when one of the Needs is deleted; empty
	// if none does.
	FreedBy string `json:"freedBy,omitempty"`
	// Retired says since when the actor neither sets nor removes the finalizer, as what follows "since":
	// "Gatekeeper 3.1". It is empty where it still does.
	Retired string `json:"retired,omitempty"`
	// Takes are what the object, or one that it names, has to say for the actor to take it.
	Takes []Take `json:"takes,omitempty"`
	// Node is where the object names the node on which the actor does its work.
	Node *AtNode `json:"node,omitempty"`
	// HeldBy is where the object says that the actor waits for somebody else.
	HeldBy []Hold `json:"heldBy,omitempty"`
	// UsedBy are the kinds of objects that use the object, and that a guard waits for.
	UsedBy []Use `json:"usedBy,omitempty"`
	// WaitsFor are the kinds of dependents, by ownerReference, that have to be gone before the
	// actor removes the finalizer.
	WaitsFor []graph.KindPattern `json:"waitsFor,omitempty"`
	// Parent is the object on whose behalf the finalizer was put there, nil if there is none.
	Parent *Parent `json:"parent,omitempty"`
	// Verified says how the name of the finalizer was checked.
	Verified Verified `json:"verified"`
	// Source is where it was read.
	Source string `json:"source"`

	// Pack is the title of the pack.
	Pack string `json:"-"`
	// Alive is how to tell whether the component is alive, and Frees that of FreedBy.
	Alive Alive `json:"-"`
	Frees Alive `json:"-"`

	regex *regexp.Regexp // Regex, compiled
}

// Risk is what it costs to remove a finalizer by hand.
type Risk string

// The risks, from none to the worst.
const (
	// RiskNone: nothing of value is lost.
	RiskNone Risk = "none"
	// LeaksExternal: something outside the cluster, or of another owner in it, stays and may cost.
	LeaksExternal Risk = "leaks-external"
	// DataLoss: data, or the way to them, can be lost.
	DataLoss Risk = "data-loss"
	// BreaksCluster: the cluster, or much of what runs in it, can stop working.
	BreaksCluster Risk = "breaks-cluster"
)

// Polarity is what a finalizer is there for.
type Polarity string

// The polarities.
const (
	// Cleanup: the actor does work outside the object, which is skipped when the finalizer is
	// removed.
	Cleanup Polarity = "cleanup"
	// Guard: the object stays while something uses it.
	Guard Polarity = "guard"
	// Bookkeeping: the actor notes something down.
	Bookkeeping Polarity = "bookkeeping"
	// BuiltinGC: the garbage collector's own.
	BuiltinGC Polarity = "builtin-gc"
	// OptInDestructive: honouring it deletes things, removing it keeps them.
	OptInDestructive Polarity = "opt-in-destructive"
	// OptInProtective: honouring it keeps things, removing it deletes them.
	OptInProtective Polarity = "opt-in-protective"
)

// Field is the list of an object in which a finalizer stands.
type Field string

// The fields. Only a namespace has the second.
const (
	InMetadata Field = "metadata.finalizers"
	InSpec     Field = "spec.finalizers"
)

// Verified is how the name of a finalizer was checked.
type Verified string

// How a name was checked.
const (
	// BySource: it was read where Source points.
	BySource Verified = "source"
	// BySearch: the exact string was found in public code; which project it belongs to is general
	// knowledge.
	BySearch Verified = "code-search"
	// ByPullRequest: it stands in the text of a change that was merged.
	ByPullRequest Verified = "pr-description"
)

var (
	risks      = []Risk{RiskNone, LeaksExternal, DataLoss, BreaksCluster}
	polarities = []Polarity{Cleanup, Guard, Bookkeeping, BuiltinGC, OptInDestructive, OptInProtective}
	fields     = []Field{InMetadata, InSpec}
	verified   = []Verified{BySource, BySearch, ByPullRequest}
)

// Consequential reports whether honouring the finalizer does something that removing it skips or
// undoes: work outside the cluster, or the deletion of data. Who removes such a finalizer without
// having found its actor has to be told so.
func (k Known) Consequential() bool {
	return k.Risk != RiskNone || k.Polarity == OptInDestructive || k.Polarity == OptInProtective
}

// Awaits reports whether a dependent of a kind has to be gone before the actor removes the
// finalizer. The group of the core is empty.
func (k Known) Awaits(group, kind string) bool {
	return slices.ContainsFunc(k.WaitsFor, func(p graph.KindPattern) bool { return p.Matches(group, kind) })
}

// Form returns the name of the finalizer, with "*" for what a prefix or suffix leaves open, or the
// regular expression.
func (k Known) Form() string {
	switch {
	case k.Exact != "":
		return k.Exact
	case k.Prefix != "":
		return k.Prefix + "*"
	case k.Suffix != "":
		return "*" + k.Suffix
	}
	return k.Regex
}

// Who returns the actor for use in a sentence, with an article where English wants one.
func (k Known) Who() string {
	who := k.Actor
	if i := strings.LastIndexByte(who, ' '); i >= 0 && who[i+1:] == strings.ToLower(who[i+1:]) {
		who = "the " + who // a description, as "PVC protection controller", where "Argo CD" is a name
	}
	return who
}

// OnCompletion says what the actor does before it removes the finalizer: what happens if it is
// alive, and what will happen to the object, and to everything else that waits, when it is started
// again. It is hedged where only the form of the finalizer's name speaks for it.
func (k Known) OnCompletion() string {
	done := k.Who() + " " + k.Does + ", then removes the finalizer"
	if k.Fallback {
		done = "probably " + done
	}
	switch k.Polarity {
	case OptInDestructive:
		return "honouring it deletes: " + done
	case OptInProtective:
		return "honouring it keeps: " + done
	}
	return done
}

// OnRemoval says what happens if somebody else removes the finalizer.
func (k Known) OnRemoval() string {
	var what string
	switch k.Polarity {
	case Guard:
		what = "ends the protection"
	case Bookkeeping:
		what = "skips the bookkeeping"
	case BuiltinGC:
		what = "passes the garbage collector by"
	case OptInDestructive:
		what = "skips the deletion that honouring it does"
	case OptInProtective:
		what = "deletes what honouring it keeps"
	default:
		what = "skips the cleanup"
	}
	return "removing it " + what + ": " + k.IfRemoved
}

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
	for _, list := range a.Lists() {
		*list = fill(*list)
	}
	return &v1alpha1.Signs{SignPatterns: a.SignPatterns, SameNamespace: a.Instance.Namespace, SameLabel: a.Instance.Label,
		Outside: a.Outside, Follow: string(a.Follow), Note: a.Note}
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
