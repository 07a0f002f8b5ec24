package check

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// passing are the codes of what a working collector sets right at once: of objects that are listed
// before their owners, some are gone when these are looked for.
var passing = []Code{OwnerAbsent, OwnerReplaced, NamespaceGone, OwnerDeleting, OwnerOrphans, OwnerCollected,
	DeletionPending}

// confirmed leaves out the findings of objects that a live read shows to be gone, to be deleted by
// now, or to have other references. An object that cannot be read keeps its findings, since it was
// listed.
func (c *checker) confirmed(ctx context.Context, findings []v1alpha1.CheckFinding) ([]v1alpha1.CheckFinding, error) {
	g := c.listing.Graph
	over := map[string]bool{} // by uid
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(c.client.Concurrency())
	asked := map[string]bool{}
	for _, f := range findings {
		id, ok := g.Lookup(f.Object.UID)
		if !ok || asked[f.Object.UID] || !slices.Contains(passing, Code(f.Code)) {
			continue
		}
		asked[f.Object.UID] = true
		t, _ := g.Type(id)
		group.Go(func() error {
			now, err := c.client.GetMeta(reading, t, f.Object.Namespace, f.Object.Name)
			if cluster.IsAbsent(err, t, f.Object.Name) || err == nil && now.UID != "" && !c.isAsListed(id, now) {
				c.mu.Lock()
				defer c.mu.Unlock()
				over[f.Object.UID] = true
			}
			return context.Cause(reading)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(findings,
		func(f v1alpha1.CheckFinding) bool { return f.Object.UID != "" && over[f.Object.UID] }), nil
}

// isAsListed says whether an object is the one that was listed, and as far from its deletion and
// with the same references as then.
func (c *checker) isAsListed(id graph.ID, now *graph.Object) bool {
	g := c.listing.Graph
	if now.UID != g.Ref(id).UID || (now.DeletionTimestamp != 0) != (g.State(id) == graph.Deleting) ||
		len(now.Owners) != g.OwnerCount(id) {
		return false
	}
	i := 0
	for e := range g.Owners(id) {
		if now.Owners[i].UID != string(uidOf(g, e)) {
			return false
		}
		i++
	}
	return true
}

// Effect is what comes of what is wrong, in a word.
type Effect string

// The effects.
const (
	// DeleteObject: the collector deletes the object.
	DeleteObject Effect = "DeleteObject"
	// RemoveReference: the collector removes the reference, and keeps the object because of another
	// owner.
	RemoveReference Effect = "RemoveReference"
	// KeepObject: the collector never deletes the object, whatever happens to its owners.
	KeepObject Effect = "KeepObject"
	// BlockOwner: an owner that is deleted in the foreground is never gone.
	BlockOwner Effect = "BlockOwner"
	// BlockDeletion: once the object is deleted, it is never gone.
	BlockDeletion Effect = "BlockDeletion"
	// Reject: the server rejects the object, or its next update.
	Reject Effect = "Reject"
	// None: nothing comes of it.
	None Effect = "None"
	// Undetermined: it cannot be told.
	Undetermined Effect = "Unknown"
)
