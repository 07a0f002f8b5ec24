package diagnose

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
)

// core is what all parts of an examination read and share.
type core struct {
	Snapshot
	client    *cluster.Client
	registry  *finalizer.Registry
	noDryRun  bool
	progress  func(done, total int, what string)
	reader    *cluster.Reader
	admission *admission.Registry
	actors    *actor.Finder
	now       time.Time
	objects   *objectCache
	limits    limits
	reviews   *cluster.Reviews
	// sampled are the objects that were not looked at themselves.
	sampled map[graph.ID]bool
	many    bool // objects to explain, so that what takes a request for each is left out

	// causes returns what holds an object, followed to the roots, and byActor who should remove a finalizer of one.
	causes  func(ctx context.Context, id graph.ID) []finding
	byActor func(ctx context.Context, id graph.ID, finalizer string) []finding
}

func newCore(client *cluster.Client, s Snapshot, opts Options) *core {
	reader := cluster.NewReader(client, s.Catalog)
	if opts.Known != nil {
		client = ownership.Guarded(client, reader, opts.Known.Links())
	}
	return &core{
		Snapshot: s, client: client, registry: opts.Known, noDryRun: opts.NoDryRun, progress: opts.Progress, reader: reader, admission: reader.Admission(),
		actors: actor.NewFinder(reader, opts.Known), now: time.Now(), objects: newObjectCache(), limits: opts.limits.orUsual(),
		reviews: client.Reviews(), sampled: map[graph.ID]bool{},
	}
}

// ref returns what identifies a whole object.
func (e *core) ref(o *unstructured.Unstructured) v1alpha1.ObjectRef {
	t, _ := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	return v1alpha1.ObjectRef{
		APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Resource: t.Resource, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()),
	}
}

// behindUser returns what keeps an object that is being deleted and in the way of another.
func (e *core) behindUser(ctx context.Context, o *unstructured.Unstructured) []finding {
	id, ok := e.Graph.Lookup(string(o.GetUID()))
	if !ok || e.Graph.DeletionTimestamp(id) == 0 {
		return nil // it is being deleted since the snapshot
	}
	return behind(e.Graph.Ref(id), e.causes(ctx, id))
}

// placed writes kind, namespace and name of an object.
func (e *core) placed(id graph.ID) string { return e.Graph.Ref(id).Located() }

// maxByName is up to how many objects rights that are given by name are looked for: where a right is denied for a type, each object is one more question.
const maxByName = 20

// past says how long ago the deletionTimestamp of an object is: that of a pod, when its grace period ends.
func (e *core) past(id graph.ID) time.Duration {
	return e.now.Sub(time.Unix(e.Graph.DeletionTimestamp(id), 0))
}
