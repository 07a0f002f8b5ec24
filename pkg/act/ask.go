package act

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// MostAsked is about how many deletes of a cascade the server is asked in a preview. Of more, some
// of each type in each namespace are.
const MostAsked = 10_000

// Asked is what the server says to the deletes of a cascade that others send.
type Asked struct {
	// Refused are those that it refuses whoever sends them, in the order of the plan. The error is
	// the server's, or a cluster.UnaskedError where the answer is known.
	Refused []Failure
	// Asked says how many could not be told: a webhook that does not support dry runs, a permission
	// that is missing, a request without an answer, or one that was not sent: because a webhook may
	// write on dry runs, or since only an unconfirmed link leads to the object.
	v1alpha1.Asked
}

// collectors are the ServiceAccounts of the controllers of kube-controller-manager that delete.
var collectors = map[plan.ReasonCode]cluster.ServiceAccount{
	plan.Content: {Namespace: "kube-system", Name: "namespace-controller"},
}

var collector = cluster.ServiceAccount{Namespace: "kube-system", Name: "generic-garbage-collector"}

// Ask sends the deletes of a plan that others send, with dryRun=All: a policy or a webhook that
// refuses one stops the cascade there. That the user may not delete an object says nothing of the
// collector, and counts as no answer. Of more than most it sends some of each type in each
// namespace. It ends with ctx.
func Ask(ctx context.Context, client *cluster.Client, p *plan.Plan, most int) Asked {
	var deletes []plan.Action
	for _, a := range p.Actions {
		if a.Verb == plan.VerbDelete && a.By != plan.ByClient && p.Graph.State(a.Object) != graph.Deleting {
			deletes = append(deletes, a)
		}
	}
	asked := Asked{Asked: v1alpha1.Asked{Of: len(deletes)}}
	deletes = sample(p.Graph, deletes, most)
	asked.Count = len(deletes)
	as := impersonators(ctx, client, deletes)
	asked.AsControllers = as != nil
	errs := make([]error, len(deletes))
	cluster.Each(client, deletes, func(i int, a plan.Action) {
		// Nothing is sent to what only an unconfirmed link leads to.
		if errs[i] = errUnanswered; p.Belongs(a.Object) {
			errs[i] = ask(ctx, client, as[accountOf(a)], p.Graph, a)
		}
	})
	for i, err := range errs {
		unasked := cluster.Unasked(err)
		switch {
		case errors.Is(err, errUnanswered), unasked != nil && unasked.Guard != "" && !p.IsGuarded(deletes[i].Object):
			asked.Unanswered++
		case err != nil:
			asked.Refused = append(asked.Refused, Failure{Action: deletes[i], Graph: p.Graph, Err: err})
		}
	}
	return asked
}

// errUnanswered is for a delete of which the server does not say whether it refuses it.
var errUnanswered = errors.New("the server has not said whether it refuses the deletion")

// ask sends one delete with dryRun=All; as is the client in the name of who sends it, nil to ask as
// the user. The error is nil if nothing is refused.
func ask(ctx context.Context, client, as *cluster.Client, g *graph.Graph, a plan.Action) error {
	if as == nil {
		as = client
	}
	t, _ := g.Type(a.Object)
	ref := g.Ref(a.Object)
	_, err := as.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID,
		cluster.DeleteOptions{Policy: string(a.Policy), DryRun: true})
	return refusal(ctx, client, g, a, err)
}

// refusal is the error of a dry run of a delete if it says that the server refuses it to all who may
// delete the object, and nil if the object is gone.
func refusal(ctx context.Context, client *cluster.Client, g *graph.Graph, a plan.Action, err error) error {
	if unasked := cluster.Unasked(err); unasked != nil {
		if unasked.Refused {
			return err
		}
		return errUnanswered
	}
	if change.IsAmbiguous(err) {
		switch _, lost := objectOf(client, g, a).Read(ctx); {
		case change.IsOver(lost):
			return nil
		case lost != nil:
			return errUnanswered
		}
	}
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), " denied the request"):
		return err // of a webhook that gives no code for its refusal
	case !errors.As(err, &status), apierrors.IsBadRequest(err), apierrors.IsTooManyRequests(err), apierrors.IsTimeout(err):
		return errUnanswered
	}
	// permissions are checked first: what admission says to those who have them is not known
	if refusedForAll(err) == nil {
		return errUnanswered
	}
	return err
}

// accountOf is who sends a delete.
func accountOf(a plan.Action) cluster.ServiceAccount {
	if account, ok := collectors[a.Because.Code]; ok {
		return account
	}
	if a.By == plan.ByCollector {
		return collector
	}
	return cluster.ServiceAccount{}
}

// impersonators are clients in the names of those who send deletes, nil if the user may not
// impersonate each of them.
func impersonators(ctx context.Context, client *cluster.Client,
	deletes []plan.Action) map[cluster.ServiceAccount]*cluster.Client {
	var accounts []cluster.ServiceAccount
	for _, a := range deletes {
		if account := accountOf(a); account.Name != "" && !slices.Contains(accounts, account) {
			accounts = append(accounts, account)
		}
	}
	accesses := make([]cluster.Access, len(accounts))
	for i, account := range accounts {
		accesses[i] = cluster.Access{Verb: "impersonate",
			Type:      graph.Type{Version: "v1", Resource: cluster.ServiceAccounts.Resource, Namespaced: true},
			Namespace: account.Namespace, Name: account.Name}
	}
	as := map[cluster.ServiceAccount]*cluster.Client{}
	for i, review := range client.Reviews().Ask(ctx, accesses) {
		if review.Permission != cluster.Allowed {
			return nil
		}
		c, err := client.As(accounts[i])
		if err != nil {
			return nil
		}
		as[accounts[i]] = c
	}
	return as
}

// sample is all of the deletes or, of too many, the first of each type in each namespace.
func sample(g *graph.Graph, deletes []plan.Action, most int) []plan.Action {
	if len(deletes) <= most {
		return deletes
	}
	type scope struct {
		t         graph.Type
		namespace string
	}
	counts := map[scope]int{}
	of := func(a plan.Action) scope {
		t, _ := g.Type(a.Object)
		return scope{t, g.Namespace(a.Object)}
	}
	for _, a := range deletes {
		counts[of(a)]++
	}
	each := max(1, most/len(counts))
	taken := map[scope]int{}
	var some []plan.Action
	for _, a := range deletes {
		if s := of(a); taken[s] < each {
			taken[s]++
			some = append(some, a)
		}
	}
	return some
}

const (
	// probeAfter is for how long nothing happens before the server is asked why, and how often it
	// is asked again.
	probeAfter = 10 * time.Second
	// maxProbed is how many objects it is asked about.
	maxProbed = 3
)

// probe asks the server, with dry runs, whether it lets anybody delete what it is the collector's
// turn to delete: an admission policy or a webhook that denies it, or a webhook that is down, stops
// the collector without a trace on the object.
func (r *run) probe(ctx context.Context, p Progress) {
	if p.Quiet < probeAfter || int(p.Quiet/tick)%int(probeAfter/tick) != 0 {
		return
	}
	for _, l := range r.waiter.undeleted(maxProbed) {
		if !slices.ContainsFunc(r.plans, func(p *plan.Plan) bool { return p.Graph == l.graph && p.Belongs(l.id) }) {
			continue // nothing is sent to what only an unconfirmed link leads to
		}
		t, _ := l.graph.Type(l.id)
		ref := l.Object
		_, err := r.client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID,
			cluster.DeleteOptions{Policy: string(l.policy), DryRun: true})
		if unasked := cluster.Unasked(err); unasked != nil && !unasked.Refused {
			continue
		}
		if change.IsAmbiguous(err) {
			if _, gone := (change.Object{Server: r.client, Type: t, Ref: ref}).Read(ctx); gone != nil {
				continue // or not to be read, so that nothing is known
			}
		}
		if ctx.Err() == nil {
			r.waiter.refused(ref.UID, refusedForAll(err))
		}
	}
}

// refusedForAll returns an error that the collector meets too. That the user may not delete the
// object says nothing about that.
func refusedForAll(err error) error {
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot delete resource"):
		return nil
	case apierrors.IsBadRequest(err): // a webhook that does not support dry runs (API-041)
		return nil
	}
	return err
}

// refused keeps why an object cannot be deleted; nil if it can.
func (w *waiter) refused(uid string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l, ok := w.awaited[uid]; ok {
		l.Refused = err
	}
}

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
