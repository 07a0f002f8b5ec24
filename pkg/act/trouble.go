package act

import (
	"context"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
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

const (
	// probeAfter is for how long nothing happens before the server is asked why, and how often it
	// is asked again.
	probeAfter = 10 * time.Second
	// maxProbed is how many objects it is asked about.
	maxProbed = 3
)

// probe asks the server, with dry runs, whether it lets anybody delete what it is the collector's
// turn to delete: an admission policy or a webhook that denies it, or a webhook that is down, stops
// the collector without a trace on the object.
func (r *run) probe(ctx context.Context, p Progress) {
	if p.Quiet < probeAfter || int(p.Quiet/tick)%int(probeAfter/tick) != 0 {
		return
	}
	for _, l := range r.waiter.undeleted(maxProbed) {
		if !slices.ContainsFunc(r.plans, func(p *plan.Plan) bool { return p.Graph == l.graph && p.Belongs(l.id) }) {
			continue // nothing is sent to what only an unconfirmed link leads to
		}
		t, _ := l.graph.Type(l.id)
		ref := l.Object
		_, err := r.client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID,
			cluster.DeleteOptions{Policy: string(l.policy), DryRun: true})
		if unasked := cluster.Unasked(err); unasked != nil && !unasked.Refused {
			continue
		}
		if change.IsAmbiguous(err) {
			if _, gone := (change.Object{Server: r.client, Type: t, Ref: ref}).Read(ctx); gone != nil {
				continue // or not to be read, so that nothing is known
			}
		}
		if ctx.Err() == nil {
			r.waiter.refused(ref.UID, refusedForAll(err))
		}
	}
}

// refusedForAll returns an error that the collector meets too. That the user may not delete the
// object says nothing about that.
func refusedForAll(err error) error {
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot delete resource"):
		return nil
	case apierrors.IsBadRequest(err): // a webhook that does not support dry runs (API-041)
		return nil
	}
	return err
}

// refused keeps why an object cannot be deleted; nil if it can.
func (w *waiter) refused(uid string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l, ok := w.awaited[uid]; ok {
		l.Refused = err
	}
}
