package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

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
