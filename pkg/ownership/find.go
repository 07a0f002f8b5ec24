package ownership

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Request says where links are looked for.
type Request struct {
	Graph *graph.Graph
	// Scope is the namespace that was listed; empty for everywhere.
	Scope string
	// Roots are the objects below which links are looked for.
	Roots []graph.ID
	// Foreground says that the roots are deleted in the foreground, so that the fields in which
	// they say so are set first.
	Foreground bool
	// Managers says that what manages the roots, and what goes with them, is looked for too,
	// wherever it is: what deletes or creates them otherwise.
	Managers bool
	// Upwards says that what is above the roots is looked for, to the end, and nothing below them.
	Upwards bool
	// Reads says, of the objects that name what is below them, which are read; nil reads all that
	// are reached.
	Reads func(graph.ID) bool
	// Accounts says that the server is asked what the ServiceAccounts may delete as which programs
	// act.
	Accounts bool
	// Definitions are the links that are known.
	Definitions []*link.Definition
}

// Ownership is what was found.
type Ownership struct {
	// Graph is the request's, with virtual nodes for ends that are not there. All ids of the
	// request's are the same in it.
	Graph *graph.Graph
	// Links are those of the rules and those that objects name.
	Links *link.Links
	// Gaps are what could not be read or understood, so that a link can be missing.
	Gaps []v1alpha1.Gap
	// Sources are the types of objects that can name what was found: one that is created can stand
	// below it.
	Sources []graph.Type
	// Elsewhere says that a link leads to a namespace that was not listed, or comes from one:
	// listing everywhere shows what is there.
	Elsewhere bool
}

// Find reads what it takes to know the links that matter for the roots. An error is one that every
// request would meet, or the end of ctx.
func Find(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, r Request) (*Ownership, error) {
	s := newSearch(client, catalog, r)
	if len(s.downward)+len(s.lead)+len(s.seek)+len(s.makes) == 0 {
		return &Ownership{Graph: r.Graph, Links: s.rules}, nil
	}
	walk := s.descend
	if r.Upwards {
		walk = s.climb
	}
	if err := walk(ctx); err != nil {
		return nil, err
	}
	if r.Managers {
		if err := errors.Join(s.managers(ctx), s.controllers(ctx)); err != nil {
			return nil, err
		}
	}
	if err := s.askEnds(ctx); err != nil {
		return nil, err
	}
	if r.Accounts {
		if err := s.askAccounts(ctx, cluster.NewReader(client, catalog)); err != nil {
			return nil, err
		}
	}
	return s.result(), nil
}

// descend follows everything that leads downwards from the roots.
func (s *search) descend(ctx context.Context) error {
	s.reach(s.Roots...)
	for {
		if err := s.sought(ctx); err != nil {
			return err
		}
		sources := slices.DeleteFunc(s.unread(), func(id graph.ID) bool { return s.isRead[id] })
		if len(sources) == 0 {
			return nil
		}
		if err := s.read(ctx, sources); err != nil {
			return err
		}
	}
}

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

// Annotations returns the keys of the annotations that a listing keeps for a Request with Managers:
// those by which objects say what manages them.
func Annotations(definitions []*link.Definition) []string {
	var keys []string
	for _, d := range definitions {
		if of, told := d.Annotations(); told {
			keys = append(keys, of...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// sought reads the objects that name what is above them, once something was reached that they can
// name: all of their kinds, since only they know it.
func (s *search) sought(ctx context.Context) error {
	for _, t := range s.Graph.Types() {
		links := s.seek[groupKind(t)]
		if s.isSought[t] || !slices.ContainsFunc(links, s.canEnd) || !s.has(t) && !s.comesIn(t, links) {
			continue
		}
		s.isSought[t] = true
		if err := s.seekAll(ctx, t, links); err != nil {
			return err
		}
	}
	return nil
}

// sourcesAbove are the types of which an object can name what was reached.
func (s *search) sourcesAbove() []graph.Type {
	return slices.DeleteFunc(slices.Clone(s.Graph.Types()),
		func(t graph.Type) bool { return !slices.ContainsFunc(s.seek[groupKind(t)], s.canEnd) })
}

// comesIn says whether an object of a type that was not listed, since it is in another namespace,
// can name one that was.
func (s *search) comesIn(t graph.Type, links []*link.Definition) bool {
	return t.Namespaced && s.Scope != "" && slices.ContainsFunc(links, (*link.Definition).LeavesNamespace)
}

// canEnd says whether something was reached that a link can name as its end.
func (s *search) canEnd(d *link.Definition) bool {
	return slices.ContainsFunc(d.Ends, func(e link.Ends) bool {
		for reached := range s.reachedKinds {
			if e.CanBe(reached.Group, reached.Kind) {
				return true
			}
		}
		return false
	})
}

// seekAll reads all objects of a type for the sake of some links.
func (s *search) seekAll(ctx context.Context, t graph.Type, links []*link.Definition) error {
	namespace := ""
	if t.Namespaced && !s.comesIn(t, links) {
		namespace = s.Scope
	}
	objects, complete, err := s.seekIn(ctx, place{t, namespace}, links)
	if err == nil && !complete && s.comesIn(t, links) && s.has(t) {
		objects, _, err = s.seekIn(ctx, place{t, s.Scope}, links)
	}
	if err != nil {
		return err
	}
	found := map[graph.ID]*unstructured.Unstructured{}
	for _, o := range objects {
		if id, ok := s.Graph.Lookup(string(o.GetUID())); ok {
			found[id] = o
		} else if t.Namespaced && s.Scope != "" && o.GetNamespace() != s.Scope {
			s.fromElsewhere(o, links)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if err := s.understand(ctx, id, found[id], links); err != nil {
			return err
		}
	}
	return nil
}

// seekIn reads all objects of a type in a place; their metadata alone, where that is all that is
// needed. It is false if that failed, of which it makes a gap.
func (s *search) seekIn(ctx context.Context, p place, links []*link.Definition) ([]*unstructured.Unstructured, bool,
	error) {
	list := s.client.ListObjects
	if !slices.ContainsFunc(links, func(d *link.Definition) bool { return !d.MetadataOnly() }) {
		list = s.client.ListObjectMetas
	}
	selectors, all := selectors(links)
	if !all {
		selectors = []string{""}
	}
	var found []*unstructured.Unstructured
	for _, labels := range selectors {
		objects, err := list(ctx, p.t, p.namespace, cluster.Selection{Labels: labels})
		if err != nil {
			return nil, false, s.unreadable(ctx, p, err)
		}
		found = append(found, objects...)
	}
	return found, true, nil
}

// fromElsewhere notes what an object in a namespace that was not listed names. That it has no node
// matters only if what it names is reached.
func (s *search) fromElsewhere(o *unstructured.Unstructured, links []*link.Definition) {
	for _, d := range links {
		ends, _, _ := s.references(d, o) // of what cannot be understood there it is said when that namespace is listed
		for _, n := range ends {
			if id, _ := s.resolve(n); id >= 0 {
				s.entered = append(s.entered, id)
			}
		}
	}
}
