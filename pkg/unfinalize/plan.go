package unfinalize

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

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
	assessor := NewAssessor(q.Client, actor.NewFinder(reader, known))
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
		err = DryRun(ctx, ownership.Guarded(q.Client, reader, known.Links()), p.Candidates(), p.Overrides)
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
