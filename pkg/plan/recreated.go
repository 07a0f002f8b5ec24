package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Recreated is an object that a program creates again when it is deleted, because another object
// still names it, or is its controller.
type Recreated struct {
	// Object is deleted, and Owner is the object that names it, in Field, or that is its
	// controller: then Field is ControllerField. It is empty if Owner selects Object by its labels.
	Object, Owner graph.ID
	Field         string
	// Program is who creates it. It is empty if that is not certain: the object is of a controller
	// that may not make it again. With is what does; empty if the program does it of its own accord.
	Program, With string
	// Only says that the owner names nothing else by this link.
	Only bool
	// Confirmed says that the object names the owner too.
	Confirmed bool
}

// ControllerField is where an object names its controller.
const ControllerField = "metadata.ownerReferences"

var (
	// replacing are the resources whose controllers replace each pod that is deleted, until their
	// owner is scaled down.
	replacing = []string{"statefulsets.apps", "daemonsets.apps", "replicasets.apps", "replicationcontrollers"}
	// passing are those whose controllers make a pod that has ended no more when it is deleted: a Job
	// has counted it, and the others have replaced it already. Of controllers of others that is not
	// known.
	passing = []string{"replicasets.apps", "replicationcontrollers", "jobs.batch"}
)

// recreated finds them by the links above what is deleted, where the source stays and says that its
// program creates them, and by the controllers that stay.
func (p *Plan) recreated() []Recreated {
	var recreated []Recreated
	for _, id := range p.Deleted {
		recreated = p.byLinks(recreated, id)
		if e, ok := p.controller(id); ok && !knownAs(recreated, id, e.Owner) && !p.leaves(e.Owner, id) {
			recreated = append(recreated, Recreated{Object: id, Owner: e.Owner, Field: ControllerField, Confirmed: true})
		}
	}
	return recreated
}

// learnRecreated says of pods that were read whether they come back. One that has ended does not if
// its controller has replaced it already, or does not replace such pods, as that of a Job.
func (p *Plan) learnRecreated(pods map[graph.ID]Pod) {
	p.Recreated = slices.DeleteFunc(p.Recreated, func(r Recreated) bool {
		pod, read := pods[r.Object]
		return read && pod.Ended && r.Field == ControllerField && slices.Contains(passing, groupResource(p.Graph, r.Owner))
	})
	for i, r := range p.Recreated {
		replaces := slices.Contains(replacing, groupResource(p.Graph, r.Owner))
		if _, read := pods[r.Object]; read && replaces && r.Field == ControllerField {
			p.Recreated[i].Program = "kube-controller-manager"
		}
	}
}

// controller returns the reference to the controller of an object, if that is there in the end and
// can make such objects again. A CronJob makes none again: it makes others when their time comes.
func (p *Plan) controller(id graph.ID) (graph.Edge, bool) {
	if p.Graph.State(id) == graph.Deleting {
		return graph.Edge{}, false
	}
	for e := range p.Graph.Owners(id) {
		if e.Controller && e.Problem == 0 && p.stays(e.Owner) {
			return e, groupResource(p.Graph, e.Owner) != "cronjobs.batch" && len(p.lost(id)) == 0
		}
	}
	return graph.Edge{}, false
}

// lost are the namespace and the CRD of an object, as far as they go.
func (p *Plan) lost(id graph.ID) []graph.ID {
	var lost []graph.ID
	if namespace, ok := p.Graph.Find("", "namespaces", "", p.Graph.Namespace(id)); ok && !p.stays(namespace) {
		lost = append(lost, namespace)
	}
	crd, ok := p.Graph.Find("apiextensions.k8s.io", "customresourcedefinitions", "", groupResource(p.Graph, id))
	if ok && !p.stays(crd) {
		lost = append(lost, crd)
	}
	return lost
}

// makes says whether a program that acts of its own accord can: it makes the namespace too, or what
// goes of those comes back itself. Somebody who does so by hand can make them first.
func (p *Plan) makes(r *link.Recreation, id graph.ID) bool {
	return r.With != "" || !slices.ContainsFunc(p.lost(id), func(place graph.ID) bool {
		return !(r.Makes == p.Graph.Name(place) && groupResource(p.Graph, place) == "namespaces") &&
			!slices.ContainsFunc(p.byLinks(nil, place), func(r Recreated) bool { return r.With == "" })
	})
}

// stays says whether an object is there in the end and is not being deleted.
func (p *Plan) stays(id graph.ID) bool { return p.Graph.Observed(id) && !p.end.is(id, gone|deleting) }

func groupResource(g *graph.Graph, id graph.ID) string {
	t, _ := g.Type(id)
	return schema.GroupResource{Group: t.Group, Resource: t.Resource}.String()
}

// byLinks adds an object of which a link's source names that its program creates it.
func (p *Plan) byLinks(recreated []Recreated, id graph.ID) []Recreated {
	for _, f := range p.options.Links.Above(id) {
		if f.Recreation == nil || !p.lives(f) || !p.makes(f.Recreation, id) || knownAs(recreated, id, f.Source) {
			continue
		}
		recreated = append(recreated, Recreated{
			Object: id, Owner: f.Source, Field: f.Field, Program: f.Recreation.By, With: f.Recreation.With, Only: p.only(f),
			Confirmed: f.Confirmed,
		})
	}
	return recreated
}

// leaves says whether an object says, where a link's source would say that its program makes
// something again, that it does not for now: it is paused.
func (p *Plan) leaves(owner, id graph.ID) bool {
	return slices.ContainsFunc(p.options.Links.Above(id), func(f link.Found) bool {
		return f.Source == owner && f.Recreation == nil && len(f.Definition.Recreates) > 0
	})
}

// knownAs says whether it is known already that an owner names an object: by another field, or in
// two items of a list.
func knownAs(recreated []Recreated, object, owner graph.ID) bool {
	for i := len(recreated) - 1; i >= 0 && recreated[i].Object == object; i-- {
		if recreated[i].Owner == owner {
			return true
		}
	}
	return false
}

// lives says whether the source of a link is there in the end and is not being deleted.
func (p *Plan) lives(f link.Found) bool {
	return f.Outside || p.stays(f.Source)
}

// only says whether a link's source names a single object by it.
func (p *Plan) only(f link.Found) bool {
	if f.More {
		return false
	}
	return !slices.ContainsFunc(p.options.Links.Found(f.Source),
		func(other link.Found) bool { return other.Definition == f.Definition && other.End != f.End })
}

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
