package unfinalize

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Action is one write: one that is planned, or one that the server has taken.
type Action struct {
	Verb   plan.Verb
	Object graph.Ref
	// Policy is that of a delete.
	Policy plan.Policy
	// Finalizers are the names of those that it removes.
	Finalizers []string
	// Owners are the uids of the owners whose references it removes.
	Owners []string
	// Cause is the owner because of which a reference is removed; its uid is empty otherwise.
	Cause graph.Ref
	// Outside says what stays outside the cluster without the Finalizers, as far as the object
	// names it.
	Outside []string

	method      Method
	assessments []Assessment
}

// order is that of the methods: what is orphaned first, then what is patched, while the object is
// there for certain; another policy, and the spec of a namespace, may be what ends it.
var order = []Method{ByOrphaning, ByPatch, ByPolicy, ByDelete, ByFinalizing}

// Actions are the writes of a candidate in the order in which Perform makes them.
func (c *Candidate) Actions() []Action { return c.actions(nil) }

// actions are those of the finalizers that are not removed already.
func (c *Candidate) actions(removed map[FinalizerRef]bool) []Action {
	var actions []Action
	for _, method := range order {
		assessments := slices.DeleteFunc(c.By(method), func(v Assessment) bool { return removed[v.FinalizerRef] })
		if len(assessments) == 0 {
			continue
		}
		if method == ByOrphaning {
			for _, d := range c.Dependents {
				actions = append(actions, Action{Verb: plan.VerbOrphan, Object: d.Ref, Owners: []string{c.Ref.UID}, Cause: c.Ref,
					method: method, assessments: assessments})
			}
		}
		actions = append(actions, c.action(method, assessments))
	}
	return actions
}

// action is the write that a method ends with.
func (c *Candidate) action(method Method, assessments []Assessment) Action {
	a := Action{Verb: plan.VerbRemoveFinalizer, Object: c.Ref, Finalizers: names(assessments), method: method,
		assessments: assessments}
	switch method {
	case ByPatch:
		a.Outside = leftBy(c.Object, assessments)
	case ByPolicy, ByDelete:
		a.Verb, a.Policy = plan.VerbDelete, plan.Background
	case ByFinalizing:
		a.Verb = plan.VerbFinalizeNamespace
	}
	return a
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
