package unfinalize

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
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

// Case is an object with what is to be done about the finalizers that were asked for.
type Case struct {
	Type graph.Type
	Ref  graph.Ref
	// Object is as it was read last.
	Object   *unstructured.Unstructured
	Names    []string
	Verdicts []Verdict
	// Dependents are those whose references come off by ByOrphaning.
	Dependents []Dependent
	facts      Facts
}

// Stranded is what would be left behind in a namespace, and what may be besides.
func (c *Case) Stranded() *Emptiness { return c.facts.Empty }

// Gaps are what could not be listed and can hide what the verdicts rest on: a dependent that would be orphaned or deleted, or content of a namespace.
func (c *Case) Gaps() []v1alpha1.Gap {
	gaps := slices.Clone(c.facts.Hiding)
	if c.facts.Empty != nil {
		gaps = append(gaps, c.facts.Empty.Gaps...)
	}
	if c.facts.After != nil {
		gaps = append(gaps, c.facts.After.Gaps...)
	}
	return gaps
}

// After is what follows when the object is gone, nil if nothing is done or nobody looked.
func (c *Case) After() *Aftermath { return c.facts.After }

// Releases says whether nothing but the collector holds the object any more when everything that was asked for comes off.
func (c *Case) Releases() bool { return released(c.Object, c.Names) }

// Refused says whether anything speaks against a verdict that the terms do not override.
func (c *Case) Refused(t Terms) bool {
	return slices.ContainsFunc(c.Verdicts, func(v Verdict) bool { return len(v.Against(t)) > 0 })
}

// Goes returns the verdicts with one of the ways.
func (c *Case) Goes(ways ...Way) []Verdict {
	return slices.DeleteFunc(slices.Clone(c.Verdicts), func(v Verdict) bool { return !slices.Contains(ways, v.Way) })
}

// Stays returns the finalizers that were not asked for.
func (c *Case) Stays() []Held {
	return slices.DeleteFunc(On(c.Object), func(h Held) bool {
		return slices.ContainsFunc(c.Verdicts, func(v Verdict) bool { return v.Held == h })
	})
}

// again judges the object as it was read now, by what is known of its actors.
func (c *Case) again(o *unstructured.Unstructured) {
	actors := map[Held]actor.Actor{}
	var server []Refusal
	for _, v := range c.Verdicts {
		actors[v.Held] = v.Actor
		for _, r := range v.Refusals {
			if r.Code == Forbidden {
				server = append(server, r)
			}
		}
	}
	c.Object = o
	var verdicts []Verdict
	for _, h := range named(o, c.Names) {
		v := Decide(o, h, c.Names, actors[h], c.facts)
		v.Refusals = append(v.Refusals, server...)
		verdicts = append(verdicts, v)
	}
	if len(c.Names) == 0 && halfDeleted(o) {
		verdicts = append(verdicts, decideHalfDeleted(o, c.facts))
	}
	c.Verdicts = verdicts
}

// Drop leaves the verdicts out that are refused for a reason, and says whether any is left.
func (c *Case) Drop(code Code) bool {
	c.Verdicts = slices.DeleteFunc(c.Verdicts, func(v Verdict) bool {
		return slices.ContainsFunc(v.Refusals, func(r Refusal) bool { return r.Code == code })
	})
	return len(c.Verdicts) > 0
}

// Ends says whether the object goes when everything that was asked for comes off.
func (c *Case) Ends() bool {
	return deleting(c.Object) && grace(c.Object) == 0 && len(c.Stays()) == 0
}
