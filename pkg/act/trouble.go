package act

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

const (
	// troubleEvery is how often the objects that a Progress names are read for what they say is
	// wrong.
	troubleEvery = 5 * time.Second
	// maxTroubled is how many of them are.
	maxTroubled = 5
)

// troubles reads what the objects that wait for the finalizers of others say is wrong: a managed
// resource whose part outside the cluster cannot be deleted has a condition that says why. Objects
// of the core group have none, and of a namespace the finalizers in its spec are read.
func (r *run) troubles(ctx context.Context, p Progress) {
	ctx, cancel := context.WithTimeout(ctx, troubleEvery)
	defer cancel()
	read := 0
	for _, b := range p.Blocked {
		t, id, ok := r.waiter.readable(b)
		if !ok || read == maxTroubled {
			continue
		}
		read++
		o, err := r.client.GetObject(ctx, t, b.Object.Namespace, b.Object.Name)
		switch {
		case err == nil && string(o.GetUID()) == id:
			if isNamespace(b.Object) {
				r.waiter.troubled(id, status.Condition{}, cluster.ForeignInSpec(o), false)
				continue
			}
			c, _ := status.Trouble(o)
			r.waiter.troubled(id, c, nil, false)
		case apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err):
			r.waiter.troubled(id, status.Condition{}, nil, true)
		}
	}
}

func isNamespace(ref graph.Ref) bool {
	return ref.Group() == "" && ref.Resource == cluster.Namespaces.Resource
}

// readable says whether an object can say what is wrong with its deletion, with its type and uid.
func (w *waiter) readable(b Blocked) (graph.Type, string, bool) {
	uid := b.Object.UID
	if !b.Deleting || !isNamespace(b.Object) && (b.Object.Group() == "" || len(plan.Foreign(b.Finalizers)) == 0) {
		return graph.Type{}, uid, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l, ok := w.awaited[uid]
	if !ok || l.unreadable {
		return graph.Type{}, uid, false
	}
	t, ok := l.graph.Type(l.id)
	return t, uid, ok
}

// troubled keeps what an object says is wrong and the finalizers in its spec, or that it cannot be
// read.
func (w *waiter) troubled(uid string, c status.Condition, inSpec []string, unreadable bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l, ok := w.awaited[uid]; ok {
		l.Trouble, l.InSpec, l.unreadable = c, inSpec, unreadable
	}
}
