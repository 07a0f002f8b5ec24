package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Release is an object that is being deleted and from which somebody removes all finalizers that
// are not the collector's.
type Release struct {
	Object graph.ID
	// Orphans says that the references to it are removed from its dependents first.
	Orphans bool
	// Background says that the collector's finalizers are removed too, so that it does not wait for
	// its dependents.
	Background bool
}

// Aftermath is what happens after objects were released.
type Aftermath struct {
	Graph *graph.Graph
	// Follows are the objects that are deleted because of the releases, sorted. Those that were
	// being deleted before are among them if they are gone only now. Finalizers that others have on
	// them are taken to be removed in the end, but for what was being deleted before.
	Follows []graph.ID
	// causes are what released each of them, in the order of the releases.
	causes map[graph.ID]graph.ID
}

// Cause returns the released object because of which an object follows. If several have to be gone
// for it, it is one of them.
func (a *Aftermath) Cause(id graph.ID) (graph.ID, bool) {
	cause, ok := a.causes[id]
	return cause, ok
}

// NewAftermath plans what the collector does after objects were released: dependents whose last
// owner is gone are deleted (GC-046), and an owner that waited for them is gone too (GC-060).
func NewAftermath(g *graph.Graph, releases []Release, opts Options) *Aftermath {
	s := newSimulation(g, opts, true)
	s.keepsTerminating = true
	s.wave = 1
	a := &Aftermath{Graph: g, causes: map[graph.ID]graph.ID{}}
	begun := map[graph.ID]bool{}
	for _, r := range releases {
		a.causes[r.Object], begun[r.Object] = r.Object, true
		s.releaseForeign(r)
	}
	s.proceed()
	a.collect(s, begun)
	return a
}

// releaseForeign removes the finalizers of others from an object, and what else the release says.
func (s *simulation) releaseForeign(r Release) {
	if !s.is(r.Object, deleting) {
		return // it does not end without its finalizers
	}
	finalizers := foreignFinalizers
	if r.Orphans {
		for e := range s.Dependents(r.Object) {
			s.edges[e.Index] |= ownerRefRemoved | released
		}
		finalizers |= orphan
	}
	if r.Background {
		finalizers |= foreground
	}
	s.touch(r.Object)
	s.clear(r.Object, finalizers)
	if !s.is(r.Object, gone) {
		s.Enqueue(r.Object)
	}
}

// collect takes over what follows, with its causes. What has begun was released itself.
func (a *Aftermath) collect(s *simulation, begun map[graph.ID]bool) {
	for _, action := range s.actions { // causes come before what they cause
		id := action.Object
		switch action.Verb {
		case VerbDelete:
			a.owe(id, action.Because.Cause, action.Because.HasCause)
			for e := range a.Graph.Owners(id) { // the cause can be an owner that was gone before
				a.owe(id, e.Owner, true)
			}
		case VerbRemoveFinalizer:
			for e := range a.Graph.Dependents(id) { // what it waited for
				a.owe(id, e.Dependent, true)
			}
		default:
			continue
		}
		if action.Verb == VerbDelete || s.is(id, gone) && !begun[id] {
			a.Follows = append(a.Follows, id)
		}
	}
	slices.Sort(a.Follows)
	a.Follows = slices.Compact(a.Follows)
}

// owe notes that an object follows from what another one follows from.
func (a *Aftermath) owe(id, from graph.ID, known bool) {
	if _, has := a.causes[id]; has || !known {
		return
	}
	if cause, ok := a.causes[from]; ok {
		a.causes[id] = cause
	}
}
