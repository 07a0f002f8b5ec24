package unfinalize

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Planned says what is to be done about the finalizers of objects, and what speaks against it.
type Planned struct {
	// Batches are the objects; those of one batch are done before the next. An object that is
	// refused is among them.
	Batches [][]*Candidate
	// Gaps are what could not be listed in the search for the objects: more of them can be there.
	Gaps []v1alpha1.Gap
	// Overrides are the refusals that are overridden.
	Overrides Overrides

	selector labels.Selector
	// saved is the archive, if there is one.
	saved *archive.Saved
}

// Candidates are the objects of all batches.
func (p *Planned) Candidates() []*Candidate { return slices.Concat(p.Batches...) }

// Allowed is the plan without the objects of which anything is refused.
func (p *Planned) Allowed() *Planned {
	allowed := *p
	allowed.Batches = nil
	for _, batch := range p.Batches {
		batch = slices.DeleteFunc(slices.Clone(batch), func(c *Candidate) bool { return c.Refused(p.Overrides) })
		if len(batch) > 0 {
			allowed.Batches = append(allowed.Batches, batch)
		}
	}
	return &allowed
}

// Row is a finalizer of an object of a plan, or an object without any.
type Row struct {
	Candidate  *Candidate
	Assessment Assessment
}

// Rows are what the plan is about, in its order.
func (p *Planned) Rows() []Row {
	var rows []Row
	for _, c := range p.Candidates() {
		for _, v := range c.Assessments {
			rows = append(rows, Row{c, v})
		}
	}
	return rows
}

// Refused are the rows that the plan refuses.
func (p *Planned) Refused() []Row {
	return slices.DeleteFunc(p.Rows(), func(r Row) bool { return len(r.Assessment.Against(p.Overrides)) == 0 })
}

// Precious returns the name by which a person agrees to a plan after which a namespace, a
// CustomResourceDefinition or data are gone, or may be; empty where a yes is enough.
func (p *Planned) Precious() string {
	if p == nil {
		return ""
	}
	var gone []graph.Ref
	data := false
	for _, c := range p.Allowed().Candidates() {
		if c.Releases() {
			gone = append(gone, c.Ref)
		}
		data = data || c.After() != nil && len(c.After().Disks)+len(c.After().Unread) > 0
	}
	return plan.Precious(gone, data)
}

// FirstName is the first finalizer of the plan that has a name; empty if none has.
func (p *Planned) FirstName() string {
	for _, r := range p.Rows() {
		if r.Assessment.Name != "" {
			return r.Assessment.Name
		}
	}
	return ""
}

// Finding is the refusal to call a plan complete whose search met gaps; nil if it met none.
func (p *Planned) Finding() error {
	if len(p.Gaps) == 0 {
		return nil
	}
	return answer.Refuse(errors.New("incomplete: types that could not be listed were not searched"))
}

// AllGaps are those of the search for the objects and those that can hide what the assessments rest
// on, each once.
func (p *Planned) AllGaps() []v1alpha1.Gap {
	gaps := p.Gaps
	for _, c := range p.Candidates() {
		gaps = v1alpha1.MergeGaps(gaps, c.Gaps())
	}
	return gaps
}
