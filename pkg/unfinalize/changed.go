package unfinalize

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// changed are the objects that the plan writes to, and the dependents that lose their references.
func (p *Planned) changed() archive.Contents {
	return archive.OfObjects(func(add func(graph.Type, graph.Object)) {
		for _, c := range p.Allowed().Candidates() {
			o := graph.Object{Namespace: c.Ref.Namespace, Name: c.Ref.Name, UID: c.Ref.UID, Finalizers: c.Object.GetFinalizers()}
			for _, r := range c.Object.GetOwnerReferences() {
				o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name,
					UID: string(r.UID)})
			}
			add(c.Type, o)
			for _, d := range c.Dependents {
				owner := graph.OwnerReference{APIVersion: c.Ref.APIVersion, Kind: c.Ref.Kind, Name: c.Ref.Name, UID: c.Ref.UID}
				add(d.Type, graph.Object{Namespace: d.Ref.Namespace, Name: d.Ref.Name, UID: d.Ref.UID,
					Owners: []graph.OwnerReference{owner}})
			}
		}
	})
}
