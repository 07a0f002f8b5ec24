package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// coordinates are where an object is read.
type coordinates struct {
	t               graph.Type
	namespace, name string
}

// unread are the reads of a pass that failed, each with the gap that the last try makes. What
// depends on such an object is kept, because unknown is not absent; that it could not be resolved
// is reported all the same (RO-004).
type unread struct {
	mu   sync.Mutex
	gaps map[coordinates]v1alpha1.Gap
}

// get reads an object live and remembers whether that failed. An answer that proves that there is
// no such object is no failure.
func (p *pass) get(ctx context.Context, t graph.Type, namespace, name string) (*graph.Object, error) {
	now, err := p.client.GetMeta(ctx, t, namespace, name)
	if err == nil && now.UID == "" {
		err = fmt.Errorf("%s: %w", object(t, name), cluster.ErrNoUID)
	}
	if ctx.Err() != nil {
		return now, err // it says nothing of the object, and ends the pass
	}
	failed := err
	// A name that no object can have is nothing that another try or another permission would show.
	if cluster.IsAbsent(err, t, name) || errors.Is(err, cluster.ErrBadName) {
		failed = nil
	}
	p.unread.note(ctx, coordinates{t, namespace, name}, failed)
	return now, err
}

// note records what the last read of an object met; nil if it was read.
func (u *unread) note(ctx context.Context, at coordinates, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		delete(u.gaps, at)
		return
	}
	gap, ok := cluster.GapOf(ctx, at.t, at.namespace, err)
	switch {
	case ok:
	case apierrors.IsUnauthorized(err):
		return // it ends the pass
	default: // the server cannot be reached, and may be when the next object is read
		gap = v1alpha1.Gap{Resource: at.t.Resource, Group: at.t.Group, Namespace: at.namespace,
			Reason: v1alpha1.GapUnavailable, Message: err.Error()}
	}
	if u.gaps == nil {
		u.gaps = map[coordinates]v1alpha1.Gap{}
	}
	u.gaps[at] = gap
}

// besides returns a gap for each type, namespace and reason of what could not be read, but for what
// the gaps of the listing tell of already: who may not list a type may seldom read it.
func (u *unread) besides(listed []v1alpha1.Gap) []v1alpha1.Gap {
	u.mu.Lock()
	defer u.mu.Unlock()
	names := map[v1alpha1.Gap][]coordinates{} // by the gap without its message
	for at, gap := range u.gaps {
		told := func(l v1alpha1.Gap) bool { return l.Hides(gap.Group, gap.Resource, gap.Namespace) }
		if !slices.ContainsFunc(listed, told) {
			gap.Message = ""
			names[gap] = append(names[gap], at)
		}
	}
	var all []v1alpha1.Gap
	for gap, failed := range names {
		first := slices.MinFunc(failed, func(a, b coordinates) int { return strings.Compare(a.name, b.name) })
		more := phrase.More(" and %d more", len(failed)-1)
		gap.Message = fmt.Sprintf("reading %s%s: %s", object(first.t, first.name), more, u.gaps[first].Message)
		all = append(all, gap)
	}
	slices.SortFunc(all, func(a, b v1alpha1.Gap) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(string(a.Reason), string(b.Reason)))
	})
	return all
}

// object names an object as the server does.
func object(t graph.Type, name string) string {
	return fmt.Sprintf("%s %q", t.GroupResource(), name)
}

// recheck lists where dependents of an owner can be, before a loop that works from a store removes
// the finalizer with which the owner waits for them. A watch may be behind, and what it has not
// shown yet would be deleted because of it, or not waited for (RO-020, RO-022). One listing of a
// namespace serves all owners of a pass.
type recheck struct {
	scopes cluster.Asked[string, *selection.Snapshot]
}

// shows reports whether the graph of the pass has all dependents of an owner that waits. A pass
// that began with a listing has no need to ask.
func (r *recheck) shows(ctx context.Context, p *pass, id graph.ID) bool {
	if p.loop.store == nil {
		return true
	}
	ref := p.graph.Ref(id)
	now, err := r.list(ctx, p, ref.Namespace)
	if err != nil || len(now.Graph.Hiding(now.Gaps, ref)) > 0 {
		return false
	}
	owner, referenced := now.Graph.Lookup(ref.UID)
	if !referenced {
		return true
	}
	for e := range now.Graph.Dependents(owner) {
		if !p.knows(id, now.Graph.Ref(e.Dependent).UID, e.Block) {
			return false
		}
	}
	return true
}

// list lists a namespace, or everything if it is empty.
func (r *recheck) list(ctx context.Context, p *pass, namespace string) (*selection.Snapshot, error) {
	return r.scopes.Once(ctx, namespace, func() (*selection.Snapshot, error) {
		opts := cluster.ListOptions{Namespace: namespace, Fallback: p.loop.opts.List.Fallback}
		opts.Types = func(of cluster.Resource) bool {
			if wanted := p.loop.opts.List.Types; wanted != nil && !wanted(of) {
				return false
			}
			return of.Deletable() && (of.Namespaced || namespace == "")
		}
		return selection.List(ctx, p.client, p.catalog, opts)
	})
}

// knows reports whether the pass has a reference to an owner, which blocks if the one that is asked
// for does.
func (p *pass) knows(owner graph.ID, dependent string, blocks bool) bool {
	id, ok := p.graph.Lookup(dependent)
	if !ok {
		return false
	}
	for e := range p.graph.Owners(id) {
		if e.Owner == owner && (e.Block || !blocks) {
			return true
		}
	}
	return false
}
