package unfinalize

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
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

// allGaps are those of the search for the objects and those that can hide what the assessments rest
// on, each once.
func (p *Planned) allGaps() []v1alpha1.Gap {
	gaps := p.Gaps
	for _, c := range p.Candidates() {
		gaps = phrase.Union(gaps, c.Gaps())
	}
	return gaps
}

// ErrNotNamed is of a request that names no finalizer and has nobody to choose.
var ErrNotNamed = errors.New("no finalizer was named")

// Plan reads the objects of a query and says what is to be done about their finalizers. It writes
// nothing; with Request.DryRun it sends dry runs. A plan without objects is no error. The error is
// the server's, a NotFound among them, or that of Request.Choose.
func Plan(ctx context.Context, q *selection.Query, known *finalizer.Registry, req Request) (*Planned, error) {
	targets, gaps, err := req.targets(ctx, q)
	if err != nil {
		return nil, err
	}
	if req.OnGaps != nil {
		req.OnGaps(gaps)
	}
	reader := cluster.NewReader(q.Client, q.Catalog)
	assessor := NewAssessor(q.Client, reader, known)
	assessor.OnSecondLook = req.OnSecondLook
	p := &Planned{Gaps: gaps, Overrides: req.Overrides, selector: q.Selector}
	if p.Batches, err = req.assess(ctx, assessor, q, targets, req.named); err != nil {
		return nil, err
	}
	if len(req.Finalizers) == 0 && p.FirstName() != "" {
		if err := req.choose(ctx, assessor, q, p); err != nil {
			return nil, err
		}
	}
	if len(p.Batches) == 0 {
		return p, nil
	}
	if err := assessor.Foresee(ctx, p.Candidates()); err != nil {
		return nil, err
	}
	Rights(ctx, q.Client, p.Candidates())
	if req.DryRun {
		err = p.DryRun(ctx, q.Client, reader, known)
	}
	return p, err
}

// choose has the finalizers of a plan chosen, and assesses again what was chosen.
func (r Request) choose(ctx context.Context, assessor *Assessor, q *selection.Query, p *Planned) error {
	if r.Choose == nil {
		return ErrNotNamed
	}
	chosen, err := r.Choose(p)
	if err != nil {
		return err
	}
	var targets []Target
	for _, c := range p.Candidates() {
		if _, ok := chosen[c.Ref.UID]; ok {
			targets = append(targets, Target{Type: c.Type, Namespace: c.Ref.Namespace, Name: c.Ref.Name, UID: c.Ref.UID})
		}
	}
	p.Batches, err = r.assess(ctx, assessor, q, [][]Target{targets},
		func(o *unstructured.Unstructured) []string { return chosen[string(o.GetUID())] })
	return err
}

// Save writes an archive of the objects that a plan is about to change. With an error there is no
// file: a refusal if an object cannot be read, and otherwise what is wrong with the file. Perform
// leaves alone then what has changed since, in anything but its status and its finalizers.
func Save(ctx context.Context, client *cluster.Client, p *Planned, file string) (*archive.Saved, error) {
	saved, err := archive.Save(ctx, client, file, p.changed(), p.Allowed().Printed())
	if err != nil {
		return nil, archive.NotSaved(ctx, err, "nothing was removed", archive.OmitArchive)
	}
	p.saved = saved
	return saved, nil
}

// changed are the objects that the plan writes to, and the dependents that lose their references.
func (p *Planned) changed() archive.Contents {
	return archive.OfObjects(func(add func(graph.Type, graph.Ref, ...graph.OwnerReference)) {
		for _, c := range p.Allowed().Candidates() {
			var owners []graph.OwnerReference
			for _, r := range c.Object.GetOwnerReferences() {
				owners = append(owners, graph.ReferenceOf(r))
			}
			add(c.Type, c.Ref, owners...)
			for _, d := range c.Dependents {
				add(d.Type, d.Ref, graph.OwnerReference{APIVersion: c.Ref.APIVersion, Kind: c.Ref.Kind, Name: c.Ref.Name,
					UID: c.Ref.UID})
			}
		}
	})
}
