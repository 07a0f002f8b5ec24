package act

import (
	"context"
	"errors"
	"slices"
	"strings"

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
	_, err := objectOf(as, g, a.Object).Delete(ctx, cluster.DeleteOptions{Policy: string(a.Policy), DryRun: true})
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
		switch _, lost := objectOf(client, g, a.Object).Read(ctx); {
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
