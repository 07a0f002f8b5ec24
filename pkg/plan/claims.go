package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// StatefulSet is what decides over the PersistentVolumeClaims that were made for a StatefulSet's pods.
type StatefulSet struct {
	// Templates are the names of its volumeClaimTemplates.
	Templates []string
	// DeletesClaims says that its persistentVolumeClaimRetentionPolicy has whenDeleted: Delete. Its controller then puts an
	// ownerReference to it on the claims, which makes them part of the cascade.
	DeletesClaims bool
}

// learnClaims adds the claims that stay to the survivors: nothing else in the graph says that they belong to what is deleted.
func (p *Plan) learnClaims(sets map[graph.ID]StatefulSet) {
	// A claim's name does not always tell the template from the set. The first set in the order of the graph is taken.
	type stem struct{ namespace, name string }
	owners := map[stem]graph.ID{}
	for id, s := range sets {
		ref := p.Graph.Ref(id)
		for _, template := range s.Templates {
			key := stem{ref.Namespace, link.ClaimStem(template, ref.Name)}
			if first, known := owners[key]; !known || id < first {
				owners[key] = id
			}
		}
	}
	if len(owners) == 0 {
		return
	}
	known := newSet(p.Graph, p.Deleted, objects(p.Survivors), objects(p.Stuck))
	for i := range p.Graph.Len() {
		id := graph.ID(i)
		if known[id] || p.Graph.State(id) != graph.Active {
			continue
		}
		claim := p.Graph.Ref(id)
		if claim.Resource != "persistentvolumeclaims" || claim.Group() != "" {
			continue
		}
		name, ok := link.StemOf(claim.Name)
		if owner, made := owners[stem{claim.Namespace, name}]; ok && made {
			p.Survivors = append(p.Survivors, Survivor{Object: id, Because: Reason{Code: sets[owner].staying(), Cause: owner, HasCause: true}})
		}
	}
	slices.SortFunc(p.Survivors, func(a, b Survivor) int { return cmp.Compare(a.Object, b.Object) })
}

func objects(list []Survivor) []graph.ID {
	ids := make([]graph.ID, len(list))
	for i, s := range list {
		ids[i] = s.Object
	}
	return ids
}

// staying is why a claim that no reference ties to the set is left.
func (s StatefulSet) staying() Code {
	if s.DeletesClaims {
		return ClaimNotOwned
	}
	return ClaimRetained
}

// ClaimLinks returns the claims that stay when a StatefulSet goes, so that a tree can show them below it.
func (p *Plan) ClaimLinks() Linker {
	links := map[graph.ID][]graph.Link{}
	for _, s := range p.Survivors {
		if r := s.Because; r.Code == ClaimRetained || r.Code == ClaimNotOwned {
			links[r.Cause] = append(links[r.Cause], graph.Link{Owner: r.Cause, Dependent: s.Object, Rule: link.Claim})
		}
	}
	return func(id graph.ID) []graph.Link { return links[id] }
}
