package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Snapshot is what a run is planned from: a listing, and what live reads have shown of the owners
// that it does not show alive.
type Snapshot struct {
	Listing
	// Proven are the states of those owners, by the Index of the reference.
	Proven map[int]plan.OwnerState
	// Instead are what a live read has shown in place of an owner, by the Index of the reference:
	// what has the name of one that was replaced, or the owner itself where it lies outside the
	// listing.
	Instead map[int]graph.Ref
}

// Snapshot lists and reads, and writes nothing. What it has found out of owners that are gone the
// loop need not find out again.
func (l *Loop) Snapshot(ctx context.Context) (*Snapshot, error) {
	p, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	err = p.readOwners(ctx)
	return p.snapshot(p.projection.Proven()), err
}

// snapshot is what the pass has listed and read so far.
func (p *pass) snapshot(proven map[int]plan.OwnerState) *Snapshot {
	p.result.Unread = p.unread.besides(p.result.Gaps)
	return &Snapshot{Listing: p.result.Listing, Proven: proven, Instead: p.instead}
}

// readOwners reads the owners of all objects that something may be due to.
func (p *pass) readOwners(ctx context.Context) error {
	var candidates []graph.ID
	for id := range p.graph.IDs() {
		if p.projection.Candidate(id) && !p.projection.Deleting(id) && p.allows(id) {
			candidates = append(candidates, id)
		}
	}
	err := cluster.EachUntil(ctx, p.client, candidates, func(ctx context.Context, _ int, id graph.ID) error {
		p.assess(ctx, id)
		return context.Cause(ctx)
	})
	return errors.Join(err, p.err)
}

// checkUnserved refuses to take a kind for unserved while anything says that its group is still
// meant to be served: a CRD or an APIService of the group, or discovery that failed; or while that
// cannot be known.
func checkUnserved(s *Snapshot, overrides plan.Overrides) error {
	for kind := range overrides.UnservedKinds {
		group := (graph.Ref{APIVersion: kind[0]}).Group()
		refuse := func(why string) error {
			return answer.Refuse(fmt.Errorf("nothing was deleted: --treat-kind-as-gone %s/%s: %s", kind[0], kind[1], why))
		}
		for _, gap := range s.Gaps {
			if hidesKinds(gap, group) {
				return refuse("cannot find out whether the kind is served: " + gap.Message)
			}
		}
		for _, t := range s.Graph.Types() {
			if t.Group == group && t.Kind == kind[1] {
				return refuse(fmt.Sprintf("%s serves this kind", t.APIVersion()))
			}
		}
		for id := range s.Graph.IDs() {
			r := s.Graph.Ref(id)
			if s.Graph.Observed(id) && (r.Resource == "customresourcedefinitions" || r.Resource == "apiservices") &&
				strings.HasSuffix(r.Name, "."+group) {
				return refuse(fmt.Sprintf("%s %s of the same group exists", r.Kind, r.Name))
			}
		}
	}
	return nil
}

// hidesKinds reports whether a gap can hide that a group is served: its discovery, or what would
// tell of it.
func hidesKinds(gap v1alpha1.Gap, group string) bool {
	if gap.Resource == "*" {
		return slices.Contains([]string{group, "apiextensions.k8s.io", "apiregistration.k8s.io"}, gap.Group)
	}
	return gap.Resource == "customresourcedefinitions" || gap.Resource == "apiservices"
}

// ReadOwners reads live what the references of some objects name and a listing does not show alive
// there, as a pass of the loop does before it acts: that an owner is absent takes a read (RO-004).
// In a listing of one namespace, an owner that is absent where its reference says is looked for in
// all types of the others. It reads also where that cannot change what the collector does. An
// object that is being deleted is not looked at: it goes, whatever its references say. It writes
// nothing. The error is for what every request would meet, or of a context that ended; an owner
// that cannot be read is Unknown in Proven, and a gap in Unread.
func ReadOwners(ctx context.Context, client *cluster.Client, listing *selection.Snapshot,
	of func(graph.ID) bool) (*Snapshot, error) {
	p := newPass(New(client, Options{List: listing.Options}), client, listing)
	p.anyType = true
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(client.Concurrency())
	for id := range p.graph.IDs() {
		if !p.graph.Observed(id) || p.graph.DeletionTimestamp(id) != 0 || !of(id) {
			continue
		}
		for e := range p.graph.Owners(id) {
			if !p.open(e) {
				continue
			}
			group.Go(func() error {
				state := p.prove(reading, e)
				p.change(func(o *plan.Projection) { o.Prove(e, state) })
				return context.Cause(reading)
			})
		}
	}
	if err := errors.Join(group.Wait(), p.err); err != nil {
		return nil, err
	}
	return p.snapshot(p.projection.Proven()), nil
}

// open reports whether a live read can tell more of the owner that a reference names than the
// listing.
func (p *pass) open(e graph.Edge) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.projection.OwnerState(e) {
	case plan.Solid, plan.Waiting, plan.Passing, plan.Orphaning, plan.BadScope:
		return false
	}
	return p.resolvable(e)
}

// ReadDisks reads the volumes of the claims that a plan deletes, and those that it deletes itself,
// and adds to the facts which of them are destroyed, which are kept, and of which that is not known.
// Of a run these are also those that go once others have removed their finalizers.
func ReadDisks(ctx context.Context, reader *cluster.Reader, p *plan.Plan, f *plan.Facts) {
	p = p.Released()
	claims, volumes := p.PVCs(), p.Volumes()
	if len(claims)+len(volumes) == 0 {
		return
	}
	refs := p.Graph.Refs(claims)
	told := map[string]bool{}
	tell := func(volume *unstructured.Unstructured) {
		disk := status.Disk(volume)
		switch {
		case told[disk.Volume.UID]:
		case disk.Destroyed():
			f.Disks = append(f.Disks, disk)
		default:
			f.KeptDisks = append(f.KeptDisks, disk)
		}
		told[disk.Volume.UID] = true
	}
	bound, failed := reader.Volumes(ctx, refs, len(claims)+len(volumes))
	for i, id := range claims {
		if volume := bound[refs[i].UID]; volume != nil {
			tell(volume)
		}
		if failed[refs[i].UID] != nil {
			f.UnreadDisks = append(f.UnreadDisks, id)
		}
	}
	for _, id := range volumes {
		ref := p.Graph.Ref(id)
		switch volume, err := reader.Volume(ctx, ref); {
		case err != nil:
			f.UnreadDisks = append(f.UnreadDisks, id)
		case volume != nil:
			tell(volume)
		}
	}
}

// DefaultRediscover is how long Watch goes by what discovery has answered. The collector asks again
// as often.
const DefaultRediscover = 30 * time.Second

// served is what discovery has answered last.
type served struct {
	client  *cluster.Client
	catalog *cluster.Catalog
	at      time.Time
}

// fromStore begins a pass with what is held of the cluster, or around what is due.
func (l *Loop) fromStore(ctx context.Context) (*pass, error) {
	around, part := l.due.take()
	if err := l.discover(ctx, part); err != nil {
		return nil, &listError{err}
	}
	return l.held(ctx, around)
}

// held begins a pass with what is held around some objects, or with all of it if around is nil.
// What has ended the store ends the loop.
func (l *Loop) held(ctx context.Context, around []string) (*pass, error) {
	listing, err := selection.ListStore(ctx, l.served.client, l.served.catalog, l.store, around)
	select {
	case err := <-l.store.Ended():
		return nil, err
	default:
	}
	if err != nil {
		return nil, &listError{err}
	}
	p := newPass(l, l.served.client, listing)
	if listing.Part {
		p.part, p.result.part = newPart(p.graph, around), true
	}
	return p, nil
}

// discover asks what the server serves, before a pass over a part not each time: a type that is
// defined or served anew is an event.
func (l *Loop) discover(ctx context.Context, part bool) error {
	every := cmp.Or(max(0, l.opts.Rediscover), DefaultRediscover)
	if part && l.served.client != nil && time.Since(l.served.at) < every {
		return nil
	}
	client := l.client.WithFreshDiscovery()
	catalog, err := client.Discover(ctx)
	if err != nil {
		return err
	}
	l.served = served{client, catalog, time.Now()}
	return nil
}

// sees reports whether the listing began after an owner was seen to wait for its dependents; if
// not, the next one will. What a store holds shows the owner, and before it is released its
// dependents are listed (recheck).
func (p *pass) sees(id graph.ID) bool { return p.loop.store != nil || p.loop.sees(p.graph.Ref(id).UID) }

// expect has the next pass wait until the store has heard of a write.
func (p *pass) expect(id graph.ID) {
	if p.loop.store == nil {
		return
	}
	ref := p.graph.Ref(id)
	if t, ok := p.graph.Type(id); ok {
		p.loop.store.Expect(t, ref.Namespace, ref.UID, p.graph.ResourceVersion(id))
	}
}
