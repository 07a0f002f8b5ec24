package act

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Check sends the writes of a plan that are the client's with dryRun=All: everything happens on the
// server but the storing. It returns what was refused, and what was accepted without the finalizer
// that the policy asks for: such a server deletes at once (API-006).
func Check(ctx context.Context, client *cluster.Client, p *plan.Plan, gracePeriodSeconds *int64) (refused []Failure,
	ignored []plan.Action) {
	deletes := slices.Concat(append([][]plan.Action{p.First()}, p.Batches()...)...)
	answers, errs := make([]cluster.Deleted, len(deletes)), make([]error, len(deletes))
	byAdmission := make([]bool, len(deletes))
	cluster.Each(client, deletes, func(i int, a plan.Action) {
		ref := p.Graph.Ref(a.Object)
		t, _ := p.Graph.Type(a.Object)
		answers[i], errs[i] = client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, cluster.DeleteOptions{
			Policy: string(a.Policy), GracePeriodSeconds: gracePeriodSeconds, DryRun: true,
		})
		why := refusal(ctx, client, p.Graph, a, errs[i])
		byAdmission[i] = why != nil && !errors.Is(why, errUnanswered) && cluster.Unasked(why) == nil
	})
	refused = checkPreparations(ctx, client, p)
	for i, a := range deletes {
		ref := p.Graph.Ref(a.Object)
		switch {
		case errs[i] != nil:
			refused = append(refused, Failure{a, p.Graph, naming(ref, errs[i]), byAdmission[i]})
		case followed(ref, a.Policy, answers[i]) != nil:
			ignored = append(ignored, a)
		}
	}
	return refused, ignored
}

// checkPreparations sends the patches that come before the deletes. One that meets an object that
// has changed is no failure: it would be made anew.
func checkPreparations(ctx context.Context, client *cluster.Client, p *plan.Plan) []Failure {
	actions := preparing(p)
	whichever := func(context.Context, graph.Type, graph.Ref) error { return nil }
	errs := make([]error, len(actions))
	cluster.Each(client, actions, func(i int, a plan.Action) {
		_, errs[i] = prepareOne(ctx, client, p.Graph, a, cluster.PatchOptions{DryRun: true}, whichever)
	})
	var refused []Failure
	for i, a := range actions {
		if errs[i] != nil && !change.IsOver(errs[i]) && !errors.Is(errs[i], ErrChanged) {
			refused = append(refused, Failure{Action: a, Graph: p.Graph, Err: unprepared(p.Graph, a, errs[i])})
		}
	}
	return refused
}
