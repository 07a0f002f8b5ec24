package act

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Orphan is a dependent that a deletion was to leave behind, as it was found after the owner had
// gone.
type Orphan struct {
	Object, Owner graph.Ref
	// Adopter is a controller that it did not have before. One whose selector matches may adopt it.
	Adopter *graph.OwnerReference
	// Err is why it is not safe: it is gone or being deleted, or still refers to the owner.
	Err error
}

// readAlone is how many objects of a type and namespace are read one by one before a list is
// cheaper.
const readAlone = 4

// orphans returns what the plans leave without a reference to an owner that goes.
func (r *run) orphans() []Orphan {
	done := r.deleted()
	seen := map[[2]string]bool{}
	var orphans []Orphan
	for _, p := range r.plans {
		for _, a := range p.Actions {
			if a.Verb != plan.VerbOrphan || a.Because.Code != plan.OwnerOrphans || !done[p.Graph.Ref(a.Because.Cause).UID] {
				continue
			}
			o := Orphan{Object: p.Graph.Ref(a.Object), Owner: p.Graph.Ref(a.Because.Cause)}
			key := [2]string{o.Object.UID, o.Owner.UID}
			if !r.waiter.going[o.Object.UID] && p.Graph.State(a.Object) == graph.Active && !seen[key] {
				seen[key] = true
				orphans = append(orphans, o)
			}
		}
	}
	slices.SortStableFunc(orphans, func(a, b Orphan) int { return compareRefs(a.Object, b.Object) })
	return orphans
}

// orphaned reads the dependents that were orphaned live, and says of each whether it is alive, and
// free. The collector takes what it knows of the dependents from watches, and a controller that
// lags can adopt one again (GC-067, GC-068). The error is that of a type that could not be read.
func (r *run) orphaned(ctx context.Context) ([]Orphan, error) {
	orphans := r.orphans()
	now, err := r.read(ctx, orphans)
	if err != nil {
		return nil, err
	}
	for i := range orphans {
		orphans[i].assess(now[orphans[i].Object.UID], r.controllers(orphans[i].Object.UID))
	}
	return orphans, nil
}

// assess compares an orphan with the object as it is now, nil if it is gone, and the uids of the
// controllers that it had before.
func (o *Orphan) assess(now *graph.Object, controllers []string) {
	name := fmt.Sprintf("%s %q", o.Object.Resource, o.Object.Name)
	switch {
	case now == nil:
		o.Err = fmt.Errorf("%s was to be orphaned and is deleted", name)
		return
	case now.DeletionTimestamp != 0:
		o.Err = fmt.Errorf("%s was to be left behind and is being deleted", name)
		return
	}
	for i, ref := range now.Owners {
		switch {
		case ref.UID == o.Owner.UID:
			o.Err = fmt.Errorf("%s refers to %s %q, which is deleted, so the collector will delete it", name, o.Owner.Kind,
				o.Owner.Name)
		case ref.Controller && !slices.Contains(controllers, ref.UID):
			o.Adopter = &now.Owners[i]
		}
	}
}

// controllers returns the uids of the controllers that the plans know of an object.
func (r *run) controllers(uid string) []string {
	var controllers []string
	for _, p := range r.plans {
		if id, ok := p.Graph.Lookup(uid); ok {
			for e := range p.Graph.Owners(id) {
				if e.Controller {
					controllers = append(controllers, p.Graph.Ref(e.Owner).UID)
				}
			}
		}
	}
	return controllers
}

// read reads objects live, by uid: a few of a type one by one, many with a list of the namespace.
// What is not there is not in the result.
func (r *run) read(ctx context.Context, orphans []Orphan) (map[string]*graph.Object, error) {
	wanted := map[scope]map[string]string{} // names by uid
	for _, o := range orphans {
		s := scope{r.typeOf(o.Object.UID), o.Object.Namespace}
		if wanted[s] == nil {
			wanted[s] = map[string]string{}
		}
		wanted[s][o.Object.UID] = o.Object.Name
	}
	var mu sync.Mutex
	found := map[string]*graph.Object{}
	add := func(o *graph.Object) {
		mu.Lock()
		defer mu.Unlock()
		found[o.UID] = o
	}
	err := cluster.EachUntil(ctx, r.client, slices.Collect(maps.Keys(wanted)),
		func(ctx context.Context, _ int, s scope) error { return readScope(ctx, r.client, s, wanted[s], add) })
	if err != nil {
		return nil, fmt.Errorf("looking after what was orphaned: %w", err)
	}
	return found, nil
}

// readScope reads objects of a type and namespace, whose names it has by uid.
func readScope(ctx context.Context, client *cluster.Client, s scope, names map[string]string,
	add func(*graph.Object)) error {
	if len(names) > readAlone {
		_, err := client.ForEachMeta(ctx, s.t, s.namespace, func(o *graph.Object) {
			if _, ok := names[o.UID]; ok {
				kept := *o // it is valid during the call
				kept.Owners = slices.Clone(o.Owners)
				add(&kept)
			}
		})
		return err
	}
	for uid, name := range names {
		o, err := client.GetMeta(ctx, s.t, s.namespace, name)
		switch {
		case err == nil && o.UID == uid:
			add(o)
		case err != nil && !cluster.IsAbsent(err, s.t, name):
			return err
		}
	}
	return nil
}

// typeOf returns the type of an object that one of the plans knows.
func (r *run) typeOf(uid string) graph.Type {
	for _, p := range r.plans {
		if id, ok := p.Graph.Lookup(uid); ok {
			t, _ := p.Graph.Type(id)
			return t
		}
	}
	return graph.Type{}
}
