package unfinalize

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Target is an object that is meant.
type Target struct {
	Type            graph.Type
	Namespace, Name string
	// UID, if not empty, is the one that it has to have.
	UID string
}

// Dependent is a dependent of an object that is to be orphaned.
type Dependent struct {
	Type            graph.Type
	Ref             graph.Ref
	ResourceVersion string
	// At are the places of the references to the owner in its list.
	At []int
}

// Candidate is an object with what is to be done about the finalizers that were asked for.
type Candidate struct {
	Type graph.Type
	Ref  graph.Ref
	// Object is as it was read last.
	Object      *unstructured.Unstructured
	Names       []string
	Assessments []Assessment
	// Dependents are those whose references are removed by ByOrphaning.
	Dependents []Dependent
	details    Details
}

// Stranded is what would be left behind in a namespace, and what may be besides.
func (c *Candidate) Stranded() *Emptiness { return c.details.Empty }

// Gaps are what could not be listed and can hide what the assessments rest on: a dependent that
// would be orphaned or deleted, or content of a namespace.
func (c *Candidate) Gaps() []v1alpha1.Gap {
	gaps := slices.Clone(c.details.Hiding)
	if c.details.Empty != nil {
		gaps = append(gaps, c.details.Empty.Gaps...)
	}
	if c.details.After != nil {
		gaps = append(gaps, c.details.After.Gaps...)
	}
	return gaps
}

// After is what follows when the object is gone, nil if nothing is done or nobody looked.
func (c *Candidate) After() *Aftermath { return c.details.After }

// Releases reports whether nothing but the collector holds the object any more when everything that
// was asked for is removed.
func (c *Candidate) Releases() bool { return released(c.Object, c.Names) }

// Refused reports whether anything speaks against an assessment that the overrides do not cover.
func (c *Candidate) Refused(t Overrides) bool {
	return slices.ContainsFunc(c.Assessments, func(v Assessment) bool { return len(v.Against(t)) > 0 })
}

// by returns the assessments with one of the methods.
func (c *Candidate) by(methods ...Method) []Assessment {
	return slices.DeleteFunc(slices.Clone(c.Assessments),
		func(v Assessment) bool { return !slices.Contains(methods, v.Method) })
}

// stays returns the finalizers that were not asked for.
func (c *Candidate) stays() []FinalizerRef {
	return slices.DeleteFunc(finalizersOn(c.Object), func(h FinalizerRef) bool {
		return slices.ContainsFunc(c.Assessments, func(v Assessment) bool { return v.FinalizerRef == h })
	})
}

// reassess assesses the object as it was read now, by what is known of its actors.
func (c *Candidate) reassess(o *unstructured.Unstructured) {
	actors := map[FinalizerRef]actor.Actor{}
	var server []Refusal
	for _, v := range c.Assessments {
		actors[v.FinalizerRef] = v.Actor
		for _, r := range v.Refusals {
			if r.Code == Forbidden {
				server = append(server, r)
			}
		}
	}
	c.Object = o
	var assessments []Assessment
	for _, h := range named(o, c.Names) {
		v := Assess(o, h, c.Names, actors[h], c.details)
		v.Refusals = append(v.Refusals, server...)
		assessments = append(assessments, v)
	}
	if len(c.Names) == 0 && halfDeleted(o) {
		assessments = append(assessments, assessHalfDeleted(o, c.details))
	}
	c.Assessments = assessments
}

// drop leaves the assessments out that are refused for a reason, and reports whether any is left.
func (c *Candidate) drop(code Code) bool {
	c.Assessments = slices.DeleteFunc(c.Assessments, func(v Assessment) bool {
		return slices.ContainsFunc(v.Refusals, func(r Refusal) bool { return r.Code == code })
	})
	return len(c.Assessments) > 0
}

// ends reports whether the object goes when everything that was asked for is removed.
func (c *Candidate) ends() bool {
	return deleting(c.Object) && grace(c.Object) == 0 && len(c.stays()) == 0
}

// action is a write with how it is made and what it does away with.
type action struct {
	plan.Write
	method      Method
	assessments []Assessment
}

// order is that of the methods: what is orphaned first, then what is patched, while the object is
// there for certain; another policy, and the spec of a namespace, may be what ends it.
var order = []Method{ByOrphaning, ByPatch, ByPolicy, ByDelete, ByFinalizing}

// Actions are the writes of a candidate in the order in which Perform makes them.
func (c *Candidate) Actions() []plan.Write {
	var writes []plan.Write
	for _, a := range c.actions(nil) {
		writes = append(writes, a.Write)
	}
	return writes
}

// actions are those of the finalizers that are not removed already.
func (c *Candidate) actions(removed map[FinalizerRef]bool) []action {
	var actions []action
	for _, method := range order {
		assessments := slices.DeleteFunc(c.by(method), func(v Assessment) bool { return removed[v.FinalizerRef] })
		if len(assessments) == 0 {
			continue
		}
		if method == ByOrphaning {
			for _, d := range c.Dependents {
				w := plan.Write{Verb: plan.VerbOrphan, Object: d.Ref, Owners: []string{c.Ref.UID}, Because: plan.OwnerOrphans,
					Cause: c.Ref}
				actions = append(actions, action{w, method, assessments})
			}
		}
		actions = append(actions, c.action(method, assessments))
	}
	return actions
}

// action is the write that a method ends with.
func (c *Candidate) action(method Method, assessments []Assessment) action {
	w := plan.Write{Verb: plan.VerbRemoveFinalizer, Object: c.Ref, Finalizers: names(assessments), Because: plan.Requested}
	switch method {
	case ByPatch:
		w.Outside = leftBy(c.Object, assessments)
	case ByPolicy, ByDelete:
		w.Verb, w.Policy = plan.VerbDelete, plan.Background
	case ByFinalizing:
		w.Verb = plan.VerbFinalizeNamespace
	}
	return action{w, method, assessments}
}

func names(assessments []Assessment) []string {
	var list []string
	for _, v := range assessments {
		if v.Name != "" {
			list = append(list, v.Name)
		}
	}
	return list
}

// FinalizerRef is a finalizer on an object.
type FinalizerRef struct {
	Name  string
	Field finalizer.Field
}

// finalizersOn returns the finalizers of an object in their order, those of a namespace's spec
// last.
func finalizersOn(o *unstructured.Unstructured) []FinalizerRef {
	var all []FinalizerRef
	for _, name := range o.GetFinalizers() {
		all = append(all, FinalizerRef{name, finalizer.InMetadata})
	}
	for _, name := range specFinalizers(o) {
		all = append(all, FinalizerRef{name, finalizer.InSpec})
	}
	return all
}

// NamesOn are the names of an object's finalizers, each once.
func NamesOn(o *unstructured.Unstructured) []string {
	return phrase.Union(nil, slices.Concat(o.GetFinalizers(), specFinalizers(o)))
}

// named returns those of an object's finalizers that have one of the names.
func named(o *unstructured.Unstructured, names []string) []FinalizerRef {
	return slices.DeleteFunc(finalizersOn(o), func(h FinalizerRef) bool { return !slices.Contains(names, h.Name) })
}

// specFinalizers are the second list, which only a namespace has (NS-001).
func specFinalizers(o *unstructured.Unstructured) []string {
	if !isNamespace(o) {
		return nil
	}
	list, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "finalizers")
	return list
}

func isNamespace(o *unstructured.Unstructured) bool {
	return o.GetAPIVersion() == "v1" && o.GetKind() == "Namespace"
}

func deleting(o *unstructured.Unstructured) bool { return o.GetDeletionTimestamp() != nil }

// grace is the grace period of an object that is pending, in seconds, 0 for none.
func grace(o *unstructured.Unstructured) int64 {
	if seconds := o.GetDeletionGracePeriodSeconds(); deleting(o) && seconds != nil {
		return *seconds
	}
	return 0
}

// halfDeleted reports whether an object that is being deleted has nothing left that it could wait
// for: the next delete ends it (RO-063, NS-005).
func halfDeleted(o *unstructured.Unstructured) bool {
	return deleting(o) && len(finalizersOn(o)) == 0 && grace(o) == 0
}
