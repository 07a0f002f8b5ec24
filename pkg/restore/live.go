package restore

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// live is what is in a place of the cluster now. The zero value is a place that is proven to be
// empty.
type live struct {
	uid string
	// restoredFrom is what its annotation RestoredFrom says, which anybody may have written.
	restoredFrom string
	deleting     bool
	// bare says that it has no status. It is read only where it decides.
	bare   bool
	owners []metav1.OwnerReference
	// err says why nothing is known.
	err error
}

func (l live) empty() bool { return l.uid == "" && l.err == nil }

// controlledBy says whether the object with the uid manages the live object.
func (l live) controlledBy(uid string) bool {
	return uid != "" && slices.ContainsFunc(l.owners, func(r metav1.OwnerReference) bool {
		return r.Controller != nil && *r.Controller && string(r.UID) == uid
	})
}

// controllerBesides names who manages the live object, other than the owner with the uid; empty for
// nobody.
func (l live) controllerBesides(uid string) string {
	for _, r := range l.owners {
		if r.Controller != nil && *r.Controller && string(r.UID) != uid {
			return r.Kind + " " + r.Name
		}
	}
	return ""
}

// refersTo says whether the live object has an owner with the uid.
func (l live) refersTo(uid string) bool {
	return slices.ContainsFunc(l.owners, func(r metav1.OwnerReference) bool { return string(r.UID) == uid })
}

// liveOf is what an object that was read says.
func liveOf(o *unstructured.Unstructured) live {
	return live{
		uid: string(o.GetUID()), restoredFrom: o.GetAnnotations()[RestoredFrom], deleting: o.GetDeletionTimestamp() != nil,
		owners: o.GetOwnerReferences(),
	}
}

// target is an object that is looked for.
type target struct {
	graph.Type
	namespace, name string
}

// worthAList is from how many objects of a type in a namespace on a list is read, and not each by
// itself.
const worthAList = 100

// look reads what is in places now. Each has an entry in the result.
func look(ctx context.Context, client *cluster.Client, targets []target) (map[target]live, error) {
	type collection struct {
		graph.Type
		namespace string
	}
	wanted := map[collection]map[string]bool{}
	for _, t := range targets {
		c := collection{t.Type, t.namespace}
		if wanted[c] == nil {
			wanted[c] = map[string]bool{}
		}
		wanted[c][t.name] = true
	}
	var mu sync.Mutex
	found := make(map[target]live, len(targets))
	note := func(c collection, name string, l live) {
		mu.Lock()
		defer mu.Unlock()
		found[target{c.Type, c.namespace, name}] = l
	}
	var group errgroup.Group
	group.SetLimit(client.Concurrency())
	for c, names := range wanted {
		if len(names) >= worthAList {
			group.Go(func() error {
				all, err := client.ListObjectMetas(ctx, c.Type, c.namespace, cluster.Selection{})
				for name := range names {
					note(c, name, live{err: err})
				}
				for _, o := range all {
					if names[o.GetName()] {
						note(c, o.GetName(), liveOf(o))
					}
				}
				return nil
			})
			continue
		}
		for name := range names {
			group.Go(func() error {
				note(c, name, lookAt(ctx, client, target{c.Type, c.namespace, name}))
				return nil
			})
		}
	}
	_ = group.Wait() // each error is in its place
	return found, context.Cause(ctx)
}

// lookAt reads what is in one place now.
func lookAt(ctx context.Context, client *cluster.Client, t target) live {
	o, err := client.GetObjectMeta(ctx, t.Type, t.namespace, t.name)
	switch {
	case cluster.IsAbsent(err, t.Type, t.name):
		return live{}
	case err != nil:
		return live{err: err}
	}
	return liveOf(o)
}
