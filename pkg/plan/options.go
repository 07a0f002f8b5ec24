package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Options say what a plan rests on besides the graph.
type Options struct {
	// Links are what goes with an object though no ownerReference says so; nil for none.
	Links *link.Links
	// Rules are those of whoever does the collector's part.
	Rules     Rules
	Overrides Overrides
	// Strict makes every owner that is deleted in the foreground wait for all of its dependents
	// that are deleted: their references are made to block first.
	Strict bool
	// Proven are the states of owners that live reads have shown, by the Index of the reference;
	// they count more than the listing.
	Proven map[int]OwnerState
	// Allow says what the loop may write to; nil allows all. Evidence is not restricted by it.
	Allow func(graph.ID) bool
	// Orphaned are the uids of owners whose dependents the loop has orphaned: references to them
	// that have come up since are removed first.
	Orphaned []string
	// Early says of an owner that waits in the foreground, by its uid, whether it did before the loop
	// began; nil means that all did which the graph shows so.
	Early func(uid string) bool
	// Gaps are what the listing could not see. Under the rules of the loop a gap that can hide a
	// dependent keeps the collector's finalizers on.
	Gaps []v1alpha1.Gap
	// Left are objects that were meant and that the program leaves which is to delete them, and why,
	// in clauses.
	Left map[graph.ID]string
	// Policies are those of the deletes of some of the roots, where they are others than the plan's.
	Policies map[graph.ID]Policy
	// specFinalizers are those that metadata does not show, in the specs of namespaces, but for the one
	// that the namespace controller removes.
	specFinalizers map[graph.ID][]string
	// stages are the objects that the client deletes, in the stages of an ordered deletion; none of
	// any other.
	stages [][]graph.ID
	// orderCycle are objects that cannot be ordered.
	orderCycle []graph.ID
	// held are objects from which nobody removes the finalizers of others, with what goes that
	// would be needed for it.
	held map[graph.ID]graph.ID
	// protected are objects whose deletion the server refuses, whoever sends it, and why.
	protected map[graph.ID]string
	// sparing are objects that programs leave alone that were to delete them because of links.
	sparing map[graph.ID]bool
	// belongs says what belongs to the roots; nil if all does that is reached.
	belongs func(graph.ID) bool
}

// mayChange reports whether the client may write to an object, or save it, because of the roots:
// what only an unconfirmed link leads to is the business of the program that follows the link.
func (o Options) mayChange(id graph.ID) bool { return o.belongs == nil || o.belongs(id) }

// Overrides are what the loop is told to do more or less than upstream does.
type Overrides struct {
	// KeepMismatched keeps objects whose owner is alive under other coordinates than the
	// reference's.
	KeepMismatched bool
	// BreakDeadlocks unblocks a reference in a cycle whose members all wait for each other.
	BreakDeadlocks bool
	// UnservedKinds are kinds, each an apiVersion and a kind, that are not served any more and
	// whose objects count as absent.
	UnservedKinds map[[2]string]bool
}

// Apply applies the overrides to what is known of the owner that a reference names.
func (t Overrides) Apply(e graph.Edge, state OwnerState) OwnerState {
	switch {
	case state == Mismatch && t.KeepMismatched:
		return Unknown
	case state == Unknown && e.Problem&graph.Unresolvable != 0 && t.UnservedKinds[[2]string{e.APIVersion, e.Kind}]:
		return Absent
	}
	return state
}

// Policy is a propagation policy, spelled as the API server spells it.
type Policy string

const (
	// Background removes the object and leaves its dependents to the collector.
	Background Policy = "Background"
	// Foreground keeps the object until its blocking dependents are gone.
	Foreground Policy = "Foreground"
	// Orphan takes the references off the dependents before the object goes.
	Orphan Policy = "Orphan"
)

// ParsePolicy reads a value of --cascade.
func ParsePolicy(s string) (Policy, error) {
	switch s {
	case "background":
		return Background, nil
	case "foreground":
		return Foreground, nil
	case "orphan":
		return Orphan, nil
	}
	return "", fmt.Errorf("invalid cascade value %q: must be background, foreground or orphan", s)
}

// The finalizers through which the API server and the collector talk
// (apimachinery/pkg/apis/meta/v1/types.go).
const (
	OrphanFinalizer     = "orphan"
	ForegroundFinalizer = "foregroundDeletion"
	// NamespaceFinalizer stands in the spec.finalizers of a namespace for its content (NS-001).
	NamespaceFinalizer = "kubernetes"
)

// IsCollectors reports whether the garbage collector itself removes a finalizer.
func IsCollectors(finalizer string) bool {
	return finalizer == OrphanFinalizer || finalizer == ForegroundFinalizer
}

// Foreign returns those of some finalizers that the garbage collector does not remove itself.
func Foreign(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), IsCollectors)
}

// settings are the writes that have programs delete in the foreground what the roots name, one for
// each field. For what is absent there is nothing to set.
func (p *Plan) settings() []Action {
	var actions []Action
	for _, root := range p.Roots {
		for _, f := range p.options.Links.Found(root) {
			setting := &Setting{f.Definition.Deletion.PolicyField, f.Definition.Deletion.Foreground}
			known := slices.ContainsFunc(actions,
				func(a Action) bool { return a.Object == root && a.Setting.Field.String() == setting.Field.String() })
			if f.Foreground && f.Source == root && !known && p.Graph.State(f.End) != graph.Absent {
				actions = append(actions, Action{
					Verb: VerbSetPolicy, Object: root, Setting: setting, By: ByClient,
					Because: Reason{Code: LinkForeground, Cause: f.End, HasCause: true},
				})
			}
		}
	}
	return actions
}
