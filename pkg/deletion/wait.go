package deletion

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// PlanWait finds the objects that a request means and what goes with them because of deletions that
// have begun, whoever began them. Of the request it takes the Selection, AllowIncomplete, Known and
// Progress. It writes nothing. Objects that do not exist are in the plan's Absent; errors of others
// in Missing. It ends with ctx.
func PlanWait(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog,
	getter genericclioptions.RESTClientGetter, request Request) (*Planned, error) {
	pl, err := newPlanner(client, catalog, request)
	if err != nil {
		return nil, err
	}
	found, err := pl.resolve(ctx, getter)
	if err != nil {
		return nil, err
	}
	p := &Planned{planner: pl}
	if len(found.objects) > 0 { // the planning knows no context and may take long
		p, err = interrupt.Do(ctx, func() (*Planned, error) {
			query := &selection.Query{Client: client, Catalog: catalog, Selection: selection.Selection{Objects: found.objects},
				Namespace: found.objects[0].Namespace, ByName: true}
			query.Scope = query.ListingScope(false)
			return pl.planWait(ctx, found.objects, query)
		})
		if err != nil {
			return nil, errors.Join(append(found.missing, err)...)
		}
	}
	p.Missing = append(found.missing, p.Missing...)
	return p, nil
}

// planWait plans how the deletions go on that some objects are part of.
func (pl *planner) planWait(ctx context.Context, objects []selection.Object, query *selection.Query) (*Planned, error) {
	snapshot, err := pl.list(ctx, *query)
	if err != nil {
		return nil, err
	}
	p := &Planned{Snapshot: snapshot, Known: pl.known, planner: pl}
	ids := findBegun(ctx, query, objects, p)
	elsewhere, err := pl.ongoing(ctx, p, query.Scope, ids, ids)
	if err == nil && !elsewhere && len(p.Kept) > 0 {
		// What is above them in a link is found from there, if it is being deleted.
		elsewhere, err = pl.ongoing(ctx, p, query.Scope, ids, slices.Concat(ids, terminating(snapshot.Graph)))
	}
	if err != nil {
		return nil, err
	}
	if elsewhere {
		query.Scope = ""
		return pl.planWait(ctx, objects, query)
	}
	if p.Unattended, err = findUnattended(ctx, cluster.NewReader(pl.client, pl.catalog), pl.known, p.Plan); err != nil {
		return nil, err
	}
	if p.Facts.Unanswered, err = findUnanswered(ctx, cluster.NewReader(pl.client, pl.catalog), p.Plan); err != nil {
		return nil, err
	}
	q, tell := confirmations(p.Graph, pl.known, begun(p.Plan), &p.Facts)
	if err := survey(ctx, pl.client, p.Graph, q); err != nil {
		return nil, err
	}
	tell()
	p.Hiding = p.Relevant(snapshot.Gaps)
	if len(p.Gaps) > 0 { // what keeps them may have an owner in a gap, and nothing is concluded from that
		for _, d := range p.Deadlocked {
			p.Deleted = append(p.Deleted, d.Object)
		}
		slices.Sort(p.Deleted)
		p.Deadlocked = nil
	}
	return p, nil
}

// ongoing plans how the deletions of the roots go on, with the links that are found from some
// objects. Elsewhere says that a link leads out of what was listed.
func (pl *planner) ongoing(ctx context.Context, p *Planned, scope string, roots, from []graph.ID) (elsewhere bool,
	err error) {
	own, err := pl.links(ctx, scope, p.Snapshot.Graph, from, nil)
	if err != nil || own.Elsewhere {
		return err == nil, err
	}
	p.Gaps = slices.Concat(p.Snapshot.Gaps, own.Gaps)
	p.links = own.Links.With(awaits(p.Known, own.Graph)...)
	p.Plan = plan.NewOngoing(own.Graph, roots, plan.Options{Links: p.links})
	return false, nil
}

// terminating are the objects that are being deleted.
func terminating(g *graph.Graph) []graph.ID {
	var ids []graph.ID
	for id := range g.IDs() {
		if g.State(id) == graph.Deleting {
			ids = append(ids, id)
		}
	}
	return ids
}

// Wait waits for what a plan of PlanWait says will go. It deletes nothing. Of the options it takes
// the Timeout, the OnEvent, the OnTick and the Words. The error is a refusal, with no Result, if an
// object is not going at all; otherwise it is what ended the wait, or that not all could be seen
// that there was to wait for.
func Wait(ctx context.Context, p *Planned, opts Options) (*Result, error) {
	if err := p.notBegun(); err != nil {
		return nil, err
	}
	var gone []graph.Ref
	tell := opts.OnEvent
	how := Options{Wait: true, Timeout: opts.Timeout, OnTick: opts.OnTick, Words: opts.Words, OnEvent: func(e act.Event) {
		if e.Type == act.Gone {
			gone = append(gone, e.Action.Object)
		}
		if tell != nil {
			tell(e)
		}
	}}
	r, err := p.perform(ctx, how, nil)
	r.Gone = gone
	if err == nil && p.incomplete() {
		err = answer.Refuse(
			answer.WithHint(
				errors.New("all objects that were found are deleted, but types that may contain dependents could not be listed"),
				"with --allow-incomplete the exit code is 0"))
	}
	return r, errors.Join(err, unseenError(r.Unseen))
}

// unseenError is the finding that nothing was heard any more of objects that were waited for, in
// the words of the first.
func unseenError(unseen []act.Unseen) error {
	if len(unseen) == 0 {
		return nil
	}
	return answer.Refuse(fmt.Errorf("could not find out whether %s still exists: %w",
		fewOf(unseen, func(u act.Unseen) graph.Ref { return u.Object }), unseen[0].Err))
}

// awaits are the dependents, by ownerReference, that the actor of a finalizer deletes itself and
// waits for before it removes the finalizer. They are links, so that a plan has them go before
// their owner: the collector would delete them only after it. A CustomResourceDefinition goes when
// its instances are gone, which is later.
func awaits(known *finalizer.Registry, g *graph.Graph) []link.Found {
	if known == nil {
		return nil
	}
	type key struct {
		t         graph.Type
		finalizer string
	}
	entries := map[key]*awaiting{}
	var all []link.Found
	for id := range g.IDs() {
		for _, name := range g.Finalizers(id) {
			t, _ := g.Type(id)
			entry, looked := entries[key{t, name}]
			if !looked {
				entry = awaitingOf(known, t, name)
				entries[key{t, name}] = entry
			}
			if entry != nil {
				all = append(all, entry.found(g, id)...)
			}
		}
	}
	return all
}

// awaiting is an entry of a pack that says what its actor waits for.
type awaiting struct {
	known      finalizer.Known
	definition *link.Definition
}

func awaitingOf(known *finalizer.Registry, t graph.Type, name string) *awaiting {
	k, ok := known.Lookup(name, t.Group, t.Kind)
	if !ok || len(k.WaitsFor) == 0 {
		return nil
	}
	return &awaiting{k, &link.Definition{ID: k.ID,
		Deletion: link.Deletion{Of: link.End, By: k.Component, Finalizer: name, Policy: link.Background,
			Waits: link.WaitsAlways}}}
}

// found are the dependents of one object.
func (a *awaiting) found(g *graph.Graph, owner graph.ID) []link.Found {
	var all []link.Found
	for e := range g.Dependents(owner) {
		t, ok := g.Type(e.Dependent)
		isCRD := t.Group == cluster.CRDs.Group && t.Resource == cluster.CRDs.Resource
		if !ok || isCRD || !a.known.Awaits(t.Group, t.Kind) || !g.Observed(e.Dependent) {
			continue
		}
		all = append(all, link.Found{
			Definition: a.definition, Source: owner, End: e.Dependent, Field: "metadata.ownerReferences",
			Effect:    link.Effect{Deletes: true, Policy: link.Background, Waits: true},
			Confirmed: true,
		})
	}
	return all
}

// Unattended is a finalizer that a wait is about and that nobody removes as things are. Somebody
// may install who does so, or what they need, while it waits.
type Unattended struct {
	// Object is the first of those that have it, and More is how many others have.
	Object    graph.Ref
	More      int
	Finalizer string
	// Because says what was seen, as clauses.
	Because []string
}

// findUnattended finds out which finalizers of what is being deleted nobody removes: who does so
// was not found or is kept from it, or something that they need does not exist. It looks at one object
// for each finalizer and kind, and at no more than mostActors. Of what cannot be read nothing is
// said. The error is the end of ctx.
func findUnattended(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan) ([]Unattended,
	error) {
	if known == nil {
		return nil, nil
	}
	finder := actor.NewFinder(reader, known)
	classes, _ := finder.Classes(p.Graph, begun(p), mostActors, byWorkloads)
	all, _, err := actor.Survey(ctx, finder, p.Graph, classes, mostActors,
		func(ctx context.Context, c *actor.Class, o *unstructured.Unstructured, a actor.Actor) Unattended {
			return Unattended{Object: p.Graph.Ref(c.Objects[0]), More: len(c.Objects) - 1, Finalizer: c.Finalizer,
				Because: missingFor(ctx, finder, o, a)}
		})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(u Unattended) bool { return len(u.Because) == 0 })
	return all, context.Cause(ctx)
}

// missingFor says what is missing for an actor to remove its finalizer from an object; nothing if
// nothing is known to be.
func missingFor(ctx context.Context, finder *actor.Finder, o *unstructured.Unstructured, a actor.Actor) []string {
	obstacle, says := finder.Obstacle(ctx, o, a)
	if obstacle != v1alpha1.DependencyMissing {
		says = append(says, finder.Missing(ctx, o, a)...)
	}
	return says
}

// begun are those of what a plan deletes that are being deleted, with their finalizers of others.
func begun(p *plan.Plan) iter.Seq2[graph.ID, []string] {
	return func(yield func(graph.ID, []string) bool) {
		for _, id := range p.Deleted {
			if p.Graph.State(id) == graph.Deleting && !yield(id, plan.Foreign(p.Graph.Finalizers(id))) {
				return
			}
		}
	}
}

// Absent is an object that was meant and does not exist.
type Absent struct {
	Object graph.Ref
	// Hint names an object of a similar name; empty if there is none, or if dependents of the
	// object are left.
	Hint string
}

// findBegun finds the objects of a wait in the listing. One that does not exist is absent, and in
// its place come the absent owners of its name and type that dependents are left of.
func findBegun(ctx context.Context, query *selection.Query, objects []selection.Object, p *Planned) []graph.ID {
	g := p.Snapshot.Graph
	var ids []graph.ID
	var unlisted []selection.Object
	for _, o := range objects {
		if id, ok := o.Lookup(g); ok {
			ids = append(ids, id)
		} else {
			unlisted = append(unlisted, o)
		}
	}
	for i, err := range query.ExplainAll(ctx, g, unlisted) {
		if !apierrors.IsNotFound(err) && !errors.Is(err, selection.ErrAnother) {
			p.Missing = append(p.Missing, err)
			continue
		}
		absent := Absent{Object: unlisted[i].Ref()}
		left := absentOwners(g, absent.Object)
		if len(left) == 0 {
			absent.Hint = answer.Hint(err)
		}
		ids, p.Absent = append(ids, left...), append(p.Absent, absent)
	}
	return ids
}

// absentOwners are the nodes of owners that do not exist and that have the coordinates of an
// object, and its uid if that is known.
func absentOwners(g *graph.Graph, object graph.Ref) []graph.ID {
	var ids []graph.ID
	for id := range g.IDs() {
		if g.State(id) != graph.Absent {
			continue
		}
		ref := g.Ref(id)
		if ref.Group() == object.Group() && ref.Kind == object.Kind && ref.Namespace == object.Namespace &&
			ref.Name == object.Name && (object.UID == "" || object.UID == ref.UID) {
			ids = append(ids, id)
		}
	}
	return ids
}

// notBegun is the refusal to wait for objects that nobody deletes.
func (p *Planned) notBegun() error {
	if len(p.Kept) == 0 {
		return nil
	}
	objects := make([]graph.Ref, len(p.Kept))
	unknown := ""
	for i, k := range p.Kept {
		objects[i] = p.Graph.Ref(k.Object)
		if p.mayBeTaken(k) {
			unknown = "; whether an owner or the namespace is being deleted is not known, because not all types could be listed"
		}
	}
	return answer.Refuse(answer.WithHint(errors.New("not being deleted, so there is nothing to wait for: "+
		firstFew(objects)+unknown),
		"kubectl gc delete deletes them and waits for the whole cascade"))
}

// mayBeTaken reports whether something could not be seen that takes an object along if it is being
// deleted: an owner, or the namespace.
func (p *Planned) mayBeTaken(k plan.ObjectReason) bool {
	for e := range p.Graph.Owners(k.Object) {
		if p.Graph.State(e.Owner) == graph.Unknown {
			return true
		}
	}
	namespace := p.Graph.Namespace(k.Object)
	if namespace == "" {
		return false
	}
	_, seen := p.Graph.Find("", "namespaces", "", namespace)
	return !seen
}
