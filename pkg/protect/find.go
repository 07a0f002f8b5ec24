// Package protect finds the objects whose deletion would delete an object, and writes the policies that
// deny it.
package protect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Protection is what guards the objects that a query means.
type Protection struct {
	Policies []Policy
	// Gaps are what could not be listed or read: something above an object may be in one, and is not
	// guarded.
	Gaps []v1alpha1.Gap
	// Lost are those of the objects, and of what is above them, that are being deleted already: no
	// policy keeps what goes with them.
	Lost []graph.Ref
	// Shared are objects with several owners, none of which is guarded: the deletion of all of them,
	// one after the other, deletes the object.
	Shared []Shared
	// Unguarded are those of the guards that no policy can be about: the server asks none of its
	// admission about objects that configure it.
	Unguarded []graph.Ref
	// Evictable are the pods among the guards. An eviction deletes one without the DELETE that a
	// policy is asked about (pkg/registry/core/pod/storage/eviction.go). What it is asked about, the
	// CREATE of pods/eviction, has the name of the pod and not its uid.
	Evictable []graph.Ref

	client *cluster.Client // which sends no dry run that a webhook would take for a deletion
	reader *cluster.Reader
	graph  *graph.Graph
}

// Shared is an object that goes only with the last of its Owners.
type Shared struct {
	Object graph.Ref
	Owners []graph.Ref
}

// Find lists the cluster, and finds what guards the objects of a query by all that stands above them,
// links among it. It writes nothing.
func Find(ctx context.Context, q *selection.Query, links []*link.Definition, except []string) (*Protection, error) {
	scope := q.Scope
	q.Scope = "" // owners are in the same namespace or in none, and what names an object may be anywhere
	listed, err := q.List(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := q.Find(ctx, listed.Graph)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 { // a check of no policy would pass
		q.Scope = scope
		return nil, cmp.Or(q.Unlisted(listed.Graph, listed.Gaps), q.Nothing(ctx, listed),
			errors.New("no policy was made: no object to protect was found"))
	}
	above, err := ownership.Find(ctx, q.Client, q.Catalog,
		ownership.Request{Graph: listed.Graph, Roots: ids, Upwards: true, Definitions: links})
	if err != nil {
		return nil, err
	}
	reader := cluster.NewReader(q.Client, q.Catalog)
	p := &Protection{Gaps: slices.Concat(listed.Gaps, above.Gaps), graph: above.Graph, reader: reader,
		client: ownership.Guarded(q.Client, reader, links)}
	for _, id := range ids {
		// Looking through a large graph knows no context.
		guards, err := interrupt.Do(ctx, func() ([]Guarded, error) { return Guards(above.Graph, above.Links, id), nil })
		if err != nil {
			return nil, err
		}
		policy := Policy{Object: above.Graph.Ref(id), Except: except}
		for _, guard := range guards {
			ref := above.Graph.Ref(guard.ID)
			if above.Graph.State(guard.ID) == graph.Deleting {
				p.Lost = append(p.Lost, ref)
			}
			switch {
			case cluster.IsImmortal(ref):
				continue // the server never deletes it
			case configures(ref):
				p.Unguarded = append(p.Unguarded, ref)
				continue
			}
			if ref.Group() == "" && ref.Resource == "pods" {
				p.Evictable = append(p.Evictable, ref)
			}
			policy.Guards = append(policy.Guards, Guard{Ref: ref, Orphan: guard.Orphan})
		}
		p.Policies = append(p.Policies, policy)
		p.Shared = append(p.Shared, shared(above.Graph, guards)...)
	}
	return p, nil
}

// shared returns those of the guards that have several owners of which none is one. Each may be
// deleted: the last that is left takes them along.
func shared(g *graph.Graph, guards []Guarded) []Shared {
	is := map[graph.ID]bool{}
	for _, guard := range guards {
		is[guard.ID] = true
	}
	var all []Shared
	for _, guard := range guards {
		var owners []graph.Ref
		for e := range g.Owners(guard.ID) {
			if g.Observed(e.Owner) && !is[e.Owner] {
				owners = append(owners, g.Ref(e.Owner))
			}
		}
		if len(owners) > 1 {
			all = append(all, Shared{g.Ref(guard.ID), owners})
		}
	}
	return all
}

// Refused is why the policies do not keep the objects; nil if nothing is known to delete them all the
// same.
func (p *Protection) Refused() error {
	switch {
	case len(p.Lost) > 0:
		return answer.Refuse(errors.New("incomplete: an object is already being deleted, and no policy can stop that"))
	case len(p.Gaps)+len(p.Unguarded) > 0:
		return answer.Refuse(errors.New("incomplete: some objects whose deletion would delete the named objects may not be covered"))
	}
	return nil
}

// configures reports whether an object configures admission: no policy and no webhook is asked
// about it (apiserver, pkg/admission/plugin/policy/generic and webhook/predicates/rules).
func configures(r graph.Ref) bool {
	return r.Group() == "admissionregistration.k8s.io"
}

// Checked is a deletion that the server was asked about.
type Checked struct {
	graph.Ref
	// Guard says that it is to be denied; otherwise it is that of a neighbour, which is to be free.
	Guard bool
	// Denied says that the server denies it, with the policy in its words. Err is any other error.
	Denied bool
	Err    error
}

// Holds reports whether the answer is the one that is to be.
func (c Checked) Holds() bool { return c.Denied == c.Guard && (c.Guard || c.Err == nil) }

// Held is a refusal if a deletion was not answered as it has to be.
func Held(all []Checked) error {
	wrong := 0
	for _, c := range all {
		if !c.Holds() {
			wrong++
		}
	}
	if wrong == 0 {
		return nil
	}
	return answer.Refuse(fmt.Errorf("%d of %s got the wrong answer: see whether the policies are applied",
		wrong, phrase.Count(len(all), "dry run")))
}

// Check asks the server, with dry runs, whether it denies the deletions that it has to, and that of a
// neighbour not: another object of the type of a guard. The error is the end of ctx.
func (p *Protection) Check(ctx context.Context) ([]Checked, error) {
	stored, err := Stored(ctx, p.reader)
	if err != nil {
		return nil, err
	}
	user, _ := p.client.WhoAmI(ctx) // nobody is excepted without a name
	var all []Checked
	for _, policy := range p.Policies {
		own := slices.DeleteFunc(slices.Clone(stored), func(d Denial) bool { return d.Policy != policy.Name() })
		var asked []Checked
		for _, guard := range policy.Guards {
			asked = append(asked, Checked{Ref: guard.Ref, Guard: true})
			if n, ok := p.neighbour(guard.Ref, stored); ok {
				asked = append(asked, Checked{Ref: n})
			}
		}
		cluster.Each(p.client, asked, func(i int, c Checked) { asked[i] = p.ask(ctx, policy, c, own, user) })
		all = append(all, asked...)
	}
	return all, context.Cause(ctx)
}

// ask sends the dry run of a deletion. Of several policies that deny it the server names one; of
// the others only what is stored tells.
func (p *Protection) ask(ctx context.Context, policy Policy, c Checked, own []Denial, user string) Checked {
	id, _ := p.graph.Lookup(c.UID)
	t, _ := p.graph.Type(id)
	_, err := p.client.Delete(ctx, t, c.Namespace, c.Name, c.UID,
		cluster.DeleteOptions{Policy: "Background", DryRun: true})
	c.Denied = denies(err, policy.Name()) || denies(err, "") && slices.ContainsFunc(own, func(d Denial) bool {
		return d.DeniesTo(user, p.graph, id, false)
	})
	if !c.Denied {
		c.Err = err
	}
	return c
}

// neighbour returns an object of the type of another that no policy guards, none that is stored
// either, and that is not being deleted.
func (p *Protection) neighbour(of graph.Ref, stored []Denial) (graph.Ref, bool) {
	guarded := func(uid string) bool {
		return slices.ContainsFunc(p.Policies, func(policy Policy) bool {
			return slices.ContainsFunc(policy.Guards, func(g Guard) bool { return g.UID == uid })
		}) || slices.ContainsFunc(stored, func(d Denial) bool { return d.Denies(uid, false) })
	}
	for id := range p.graph.IDs() {
		ref := p.graph.Ref(id)
		if ref.Group() == of.Group() && ref.Resource == of.Resource && p.graph.State(id) == graph.Active &&
			p.graph.Observed(id) && !guarded(ref.UID) && !cluster.IsImmortal(ref) {
			return ref, true
		}
	}
	return graph.Ref{}, false
}

// Guarded is an object whose deletion has to be denied so that another one stays.
type Guarded struct {
	ID graph.ID
	// Orphan says that a deletion with the policy Orphan would delete the other one, too.
	Orphan bool
}

// Guards returns the objects of which one DELETE would delete an object, the object itself first: those
// above it whose planned deletion, in the background or the foreground, takes it along. One that has
// another owner stays when only one of them is deleted (GC-046). Absent owners are nothing that can be
// deleted.
func Guards(g *graph.Graph, links *link.Links, id graph.ID) []Guarded {
	guards := []Guarded{{ID: id, Orphan: true}}
	for _, above := range ancestors(g, links, id) {
		loses := func(policy plan.Policy) bool {
			p := plan.New(g, []graph.ID{above}, policy, plan.Options{Links: links})
			return slices.Contains(p.Deleted, id) || slices.Contains(p.Unsettled, id) ||
				slices.ContainsFunc(p.Deadlocked, func(r plan.ObjectReason) bool { return r.Object == id })
		}
		if orphan := loses(plan.Orphan); orphan || loses(plan.Background) || loses(plan.Foreground) {
			guards = append(guards, Guarded{ID: above, Orphan: orphan})
		}
	}
	return guards
}

// ancestors returns what stands above an object: owners, what names it in a link, and what it goes with
// by a rule, as its namespace and its CRD; and what stands above that.
func ancestors(g *graph.Graph, links *link.Links, id graph.ID) []graph.ID {
	var ruled []graph.ID // those that others go with by a rule
	for id := range g.IDs() {
		if _, has := link.Of(g.Ref(id)); has && g.Observed(id) {
			ruled = append(ruled, id)
		}
	}
	found := []graph.ID{id}
	seen := map[graph.ID]bool{id: true}
	for next := 0; next < len(found); next++ {
		of := found[next]
		add := func(above graph.ID) {
			if !seen[above] && g.Observed(above) {
				seen[above] = true
				found = append(found, above)
			}
		}
		for e := range g.Owners(of) {
			add(e.Owner)
		}
		for _, l := range links.Owners(of) {
			add(l.Owner)
		}
		for _, above := range ruled {
			if !seen[above] && slices.Contains(links.Content(above), of) {
				add(above)
			}
		}
	}
	return found[1:]
}
