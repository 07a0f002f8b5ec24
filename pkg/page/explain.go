package page

import "github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"

// Explain fills Known with what is known of each finalizer, which can depend on the object that has
// it. An answer counts once for all finalizers of the same name and entry.
func (p *Page) Explain(of func(name string, object v1alpha1.ObjectRef) v1alpha1.ExplainedFinalizer) {
	type asked struct{ name, apiVersion, kind string }
	type entry struct{ name, id string }
	answers, at := map[asked]int{}, map[entry]int{}
	p.Known = []v1alpha1.ExplainedFinalizer{}
	for i := range p.Objects {
		o := &p.Objects[i]
		for j := range o.Finalizers {
			f := &o.Finalizers[j]
			question := asked{f.Name, o.APIVersion, o.Kind}
			index, answered := answers[question]
			if !answered {
				answer := of(f.Name, o.ObjectRef)
				e := entry{answer.Name, answer.ID}
				if index, answered = at[e]; !answered {
					index = len(p.Known)
					at[e], p.Known = index, append(p.Known, answer)
				}
				answers[question] = index
			}
			f.Known = index
		}
	}
}

// Deleting returns the objects that are being deleted.
func (p *Page) Deleting() []v1alpha1.ObjectRef {
	var refs []v1alpha1.ObjectRef
	for _, o := range p.Objects {
		if o.State == v1alpha1.StateDeleting {
			refs = append(refs, o.ObjectRef)
		}
	}
	return refs
}
