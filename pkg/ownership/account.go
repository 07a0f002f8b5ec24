package ownership

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// mostReviews is how often the server is asked what accounts may do. Of the rest that is unknown.
const mostReviews = 500

// askAccounts asks the server which ends the ServiceAccounts cannot delete as which programs act,
// and whether these are there. The error is the end of ctx.
func (s *search) askAccounts(ctx context.Context, reader *cluster.Reader) error {
	by := map[cluster.ServiceAccount][]*named{}
	for i := range s.links {
		if f := &s.links[i]; f.Account != "" && f.Tries() {
			account := cluster.ServiceAccount{Namespace: f.identity.Namespace, Name: f.Account}
			by[account] = append(by[account], f)
		}
	}
	var asked atomic.Int64
	cluster.Each(s.client, slices.Collect(maps.Keys(by)), func(_ int, account cluster.ServiceAccount) {
		s.askAccount(ctx, reader, account, by[account], &asked)
	})
	return context.Cause(ctx)
}

// askAccount notes what one account cannot do with the ends of links: what a program cannot read it
// cannot delete either.
func (s *search) askAccount(ctx context.Context, reader *cluster.Reader, account cluster.ServiceAccount, links []*named,
	asked *atomic.Int64) {
	t := graph.Type{Version: "v1", Resource: cluster.ServiceAccounts.Resource, Kind: "ServiceAccount", Namespaced: true}
	_, err := s.client.GetMeta(ctx, t, account.Namespace, account.Name)
	who := "ServiceAccount " + account.Name + ", as which it acts, "
	r := reviewer{asked: asked, known: map[cluster.Access]cluster.Review{},
		ask: func(a cluster.Access) (cluster.Review, error) { return reader.ReviewOf(ctx, account, a) }}
	for _, f := range links {
		switch {
		case cluster.IsAbsent(err, t, account.Name):
			f.Effect.Deletes, f.Effect.Waits, f.Effect.Why = false, false, who+"does not exist"
		case err != nil:
			f.Unsure = who + "could not be read: " + err.Error()
		case f.End >= 0 && s.Graph.Observed(f.End):
			f.Refused, f.Unsure = r.permitted(s.Graph, f.End, who)
		}
	}
}

// reviewer asks what one account may do, and remembers the answers. asked is how often that was
// asked of all accounts. Whoever may not ask once asks no more.
type reviewer struct {
	ask    func(cluster.Access) (cluster.Review, error)
	asked  *atomic.Int64
	known  map[cluster.Access]cluster.Review
	failed error
}

func (r *reviewer) may(a cluster.Access) (cluster.Review, error) {
	review, told := r.known[a]
	switch {
	case told:
		return review, nil
	case r.failed != nil:
		return review, r.failed
	case r.asked.Add(1) > mostReviews:
		r.failed = fmt.Errorf("it was asked %d times what accounts may do", mostReviews)
		return review, r.failed
	}
	if review, r.failed = r.ask(a); r.failed == nil {
		r.known[a] = review
	}
	return review, r.failed
}

// permitted says why the account cannot delete an end, or why that is not known. It is asked about
// the name only where the account may not do it with any object of the type.
func (r *reviewer) permitted(g *graph.Graph, end graph.ID, who string) (refused, unsure string) {
	t, _ := g.Type(end)
	for _, verb := range []string{"get", "delete"} {
		a := cluster.Access{Verb: verb, Type: t, Namespace: g.Namespace(end)}
		review, err := r.may(a)
		if err == nil && review.Permission == cluster.Denied {
			a.Name = g.Name(end)
			review, err = r.may(a)
		}
		switch {
		case err != nil:
			return "", "whether " + who + "may " + verb + " it was not answered: " + err.Error()
		case review.Permission == cluster.Denied:
			return who + "may not " + verb + " " + t.Resource, ""
		case review.Permission == cluster.Unknown:
			return "", "whether " + who + "may " + verb + " it was not answered: " + review.Reason
		}
	}
	return "", ""
}
