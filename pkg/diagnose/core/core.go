// Package core has what all parts of an examination share: findings with their codes, evidence and
// steps of a remedy, and what is read of the cluster and kept.
package core

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Snapshot is what the cluster was seen to be before the examination.
type Snapshot struct {
	Catalog *cluster.Catalog
	Graph   *graph.Graph
	Gaps    []v1alpha1.Gap

	// Links are the rules and, once they were followed, the links of packs of the Definitions;
	// Unlinked are the gaps in which other links can be.
	Links       *link.Links
	Definitions []*link.Definition
	Unlinked    []v1alpha1.Gap
}

// Examination is what all parts of an examination read and share.
type Examination struct {
	Snapshot
	Client   *cluster.Client
	Registry *finalizer.Registry
	NoDryRun bool
	Reader   *cluster.Reader
	Actors   *actor.Finder
	Now      time.Time
	objects  *objectCache
	Limits   Limits
	Reviews  *cluster.Reviews
	// Sampled are the objects that were not looked at themselves.
	Sampled map[graph.ID]bool
	Many    bool // objects to explain, so that what takes a request for each is left out
	// ManyLooks says that many are looked at, be it for one that is explained, as a namespace is: the
	// events of a namespace are read once then.
	ManyLooks bool

	// Causes returns what holds an object, followed to the roots, and ByActor who should remove a
	// finalizer of one.
	Causes  func(ctx context.Context, id graph.ID) []Finding
	ByActor func(ctx context.Context, id graph.ID, finalizer string) []Finding
}

// New returns an examination that has read nothing yet.
func New(client *cluster.Client, reader *cluster.Reader, s Snapshot, known *finalizer.Registry) *Examination {
	return &Examination{
		Snapshot: s, Client: client, Registry: known, Reader: reader,
		Actors: actor.NewFinder(reader, known), Now: now(client), objects: newObjectCache(),
		Reviews: client.Reviews(), Sampled: map[graph.ID]bool{},
	}
}

// now is when the examination begins; that of a dump is of its time.
func now(client *cluster.Client) time.Time {
	if client.IsStill() {
		return client.Now()
	}
	return time.Now()
}

// Ref returns what identifies a whole object.
func (e *Examination) Ref(o *unstructured.Unstructured) v1alpha1.ObjectRef {
	t, _ := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	ref := graph.RefOf(o)
	ref.Resource = t.Resource
	return ref
}

// BehindUser returns what keeps an object that is being deleted and in the way of another.
func (e *Examination) BehindUser(ctx context.Context, o *unstructured.Unstructured) []Finding {
	id, ok := e.Graph.Lookup(string(o.GetUID()))
	if !ok || e.Graph.DeletionTimestamp(id) == 0 {
		return nil // it is being deleted since the snapshot
	}
	return Behind(e.Graph.Ref(id), e.Causes(ctx, id))
}

// Placed writes kind, namespace and name of an object.
func (e *Examination) Placed(id graph.ID) string { return e.Graph.Ref(id).Located() }

// MaxByName is up to how many objects rights that are given by name are looked for: where a right
// is denied for a type, each object is one more question.
const MaxByName = 20

// Past says how long ago the deletionTimestamp of an object is: that of a pod, when its grace
// period ends.
func (e *Examination) Past(id graph.ID) time.Duration {
	return e.Now.Sub(time.Unix(e.Graph.DeletionTimestamp(id), 0))
}
