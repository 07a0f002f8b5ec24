package restore

import (
	"context"
	"slices"
	"sync"

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
		return IsController(r) && string(r.UID) == uid
	})
}

// controllerBesides names who manages the live object, other than the owner with the uid; empty for
// nobody.
func (l live) controllerBesides(uid string) string {
	for _, r := range l.owners {
		if IsController(r) && string(r.UID) != uid {
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

// unknownTotal stands for how many objects of a type a namespace has: a hundred of them are worth a
// list.
const unknownTotal = 1000

// look reads what is in places now. Each has an entry in the result.
func look(ctx context.Context, client *cluster.Client, targets []target) (map[target]live, error) {
	names := map[target][]string{} // by type and namespace
	found := make(map[target]live, len(targets))
	for _, t := range targets {
		if _, again := found[t]; !again {
			found[t] = live{}
			of := target{Type: t.Type, namespace: t.namespace}
			names[of] = append(names[of], t.name)
		}
	}
	var requests []cluster.ObjectRequest
	for of, names := range names {
		requests = append(requests, cluster.ObjectRequest{Type: of.Type, Namespace: of.namespace, Names: names,
			Total: unknownTotal, Metadata: true})
	}
	var mu sync.Mutex
	return found, client.TryObjects(ctx, requests, func(t graph.Type, o *unstructured.Unstructured) error {
		mu.Lock()
		defer mu.Unlock()
		found[target{t, o.GetNamespace(), o.GetName()}] = liveOf(o)
		return nil
	}, func(e *cluster.UnreadError) error {
		mu.Lock()
		defer mu.Unlock()
		of := target{Type: e.Type, namespace: e.Namespace}
		failed := []string{e.Name}
		if e.Name == "" {
			failed = names[of]
		}
		for _, of.name = range failed {
			found[of] = live{err: e.Err}
		}
		return context.Cause(ctx)
	})
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
