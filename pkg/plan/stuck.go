package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Stuck are those of Deadlocked that wait, directly or not, for what nobody does: finalizers whose
// actors go first, and objects whose deletion the server refuses; sorted.
func (p *Plan) Stuck() []ObjectReason {
	waits := make(map[graph.ID]Reason, len(p.Deadlocked))
	for _, d := range p.Deadlocked {
		waits[d.Object] = d.Because
	}
	known := make(map[graph.ID]bool, len(p.Deadlocked))
	for id := range p.options.protected {
		known[id] = true
	}
	var stuck []ObjectReason
	for _, d := range p.Deadlocked {
		var way []graph.ID
		is := false
		for id := d.Object; ; id = waits[id].Cause {
			r, waiting := waits[id]
			verdict, seen := known[id]
			if seen || !waiting || !r.HasCause || r.isStuck() {
				is = verdict || waiting && r.isStuck()
				break
			}
			known[id] = false // so that a cycle ends here
			way = append(way, id)
		}
		for _, id := range way {
			known[id] = is
		}
		if is {
			stuck = append(stuck, d)
		}
	}
	return stuck
}

// TakesRounds says of the namespaces, by name, to which the namespace controller has to come back,
// and then asks for discovery again: pods take time to terminate, and finalizers to be removed.
func TakesRounds(g *graph.Graph) map[string]bool {
	names := map[string]bool{}
	for id := range g.IDs() {
		if !g.Observed(id) {
			continue
		}
		if ref := g.Ref(id); ref.Namespace != "" &&
			(ref.Resource == "pods" && ref.Group() == "" || len(g.Finalizers(id)) > 0) {
			names[ref.Namespace] = true
		}
	}
	return names
}

// isStuck says that nobody does what an object waits for.
func (r Reason) isStuck() bool {
	return r.Code == ActorDeleted || r.Code == DiscoveryFails || r.Code == LinkRefused
}

// NotDeleted returns the objects that a loop may write to and has not deleted when it came to its
// end, and why: those that are terminating and wait for somebody else, and those of which it could
// not resolve an owner.
func (o *Projection) NotDeleted(may func(graph.ID) bool) []ObjectReason {
	s := &simulation{Projection: o, options: Options{Rules: Loop}}
	var rest []ObjectReason
	for id := range o.Graph.IDs() {
		switch {
		case !o.Graph.Observed(id) || o.Gone(id) || may != nil && !may(id):
		case o.Deleting(id):
			rest = append(rest, ObjectReason{Object: id, Because: s.waitsFor(id)})
		case o.Candidate(id):
			item, _, cause := s.item(id)
			switch Decide(item, Loop).Do {
			case Unresolvable, Nothing, Later: // one owner is solid, or nothing can be judged (P-21)
				rest = append(rest, ObjectReason{Object: id, Because: s.whyKept(id)})
			case Delete, RemoveOwnerRefs:
				cause.Code = NotDone
				rest = append(rest, ObjectReason{Object: id, Because: cause})
			}
		}
	}
	return rest
}

// StatefulSet is what decides over the PersistentVolumeClaims that were made for a StatefulSet's
// pods.
type StatefulSet struct {
	// Templates are the names of its volumeClaimTemplates.
	Templates []string
	// DeletesPVCs says that its persistentVolumeClaimRetentionPolicy has whenDeleted: Delete. Its
	// controller then puts an ownerReference to it on the PVCs, which makes them part of the
	// cascade.
	DeletesPVCs bool
}

// learnPVCs adds the PVCs that stay to the survivors: nothing else in the graph says that they
// belong to what is deleted.
func (p *Plan) learnPVCs(sets map[graph.ID]StatefulSet) {
	// A PVC's name does not always tell the template from the set. The first set in the order of
	// the graph is taken.
	type stem struct{ namespace, name string }
	owners := map[stem]graph.ID{}
	for id, s := range sets {
		ref := p.Graph.Ref(id)
		for _, template := range s.Templates {
			key := stem{ref.Namespace, link.PVCPrefix(template, ref.Name)}
			if first, known := owners[key]; !known || id < first {
				owners[key] = id
			}
		}
	}
	if len(owners) == 0 {
		return
	}
	known := newSet(p.Graph, p.Deleted, objects(p.Kept), objects(p.Deadlocked))
	for id := range p.Graph.IDs() {
		if known[id] || p.Graph.State(id) != graph.Active {
			continue
		}
		pvc := p.Graph.Ref(id)
		if pvc.Resource != "persistentvolumeclaims" || pvc.Group() != "" {
			continue
		}
		name, ok := link.PVCPrefixOf(pvc.Name)
		if owner, made := owners[stem{pvc.Namespace, name}]; ok && made {
			p.Kept = append(p.Kept, ObjectReason{Object: id,
				Because: Reason{Code: sets[owner].staying(), Cause: owner, HasCause: true}})
		}
	}
	slices.SortFunc(p.Kept, func(a, b ObjectReason) int { return cmp.Compare(a.Object, b.Object) })
}

func objects(list []ObjectReason) []graph.ID {
	ids := make([]graph.ID, len(list))
	for i, s := range list {
		ids[i] = s.Object
	}
	return ids
}

// staying is why a PVC that no reference ties to the set is left.
func (s StatefulSet) staying() ReasonCode {
	if s.DeletesPVCs {
		return PVCNotOwned
	}
	return PVCRetained
}

// PVCLinks returns the PVCs that stay when a StatefulSet goes, so that a tree can show them below
// it.
func (p *Plan) PVCLinks() func(graph.ID) []graph.Link {
	links := map[graph.ID][]graph.Link{}
	for _, s := range p.Kept {
		if r := s.Because; r.Code == PVCRetained || r.Code == PVCNotOwned {
			links[r.Cause] = append(links[r.Cause], graph.Link{Owner: r.Cause, Dependent: s.Object, Rule: link.PVC})
		}
	}
	return func(id graph.ID) []graph.Link { return links[id] }
}
