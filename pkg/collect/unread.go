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
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
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
		told := func(l v1alpha1.Gap) bool {
			return l.Group == gap.Group && (l.Resource == gap.Resource || l.Resource == "*") &&
				(l.Namespace == "" || l.Namespace == gap.Namespace)
		}
		if !slices.ContainsFunc(listed, told) {
			gap.Message = ""
			names[gap] = append(names[gap], at)
		}
	}
	var all []v1alpha1.Gap
	for gap, failed := range names {
		first := slices.MinFunc(failed, func(a, b coordinates) int { return strings.Compare(a.name, b.name) })
		more := ""
		if n := len(failed) - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
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
	resource := t.Resource
	if t.Group != "" {
		resource += "." + t.Group
	}
	return fmt.Sprintf("%s %q", resource, name)
}

// elsewhere finds owners of a type that a listing of one namespace does not show, in other
// namespaces or in none: the collector takes them for absent, and they are alive. Each type
// is listed once, and only if an owner of it is absent.
type elsewhere struct {
	mu    sync.Mutex
	types map[graph.Type]func() (map[string]strayOwner, error)
}

// strayOwner is an object that some reference names by its uid, and what it is to a dependent that
// does not find it.
type strayOwner struct {
	state           plan.OwnerState
	namespace, name string
}

// owners returns by uid the objects of a type that the listing has references to.
func (s *elsewhere) owners(ctx context.Context, p *pass, t graph.Type) (map[string]strayOwner, error) {
	s.mu.Lock()
	list, asked := s.types[t]
	if !asked {
		list = sync.OnceValues(func() (map[string]strayOwner, error) {
			owners := map[string]strayOwner{}
			_, err := p.client.ForEachMeta(ctx, t, "", func(o *graph.Object) {
				if _, named := p.graph.Lookup(o.UID); !named {
					return
				}
				owner := strayOwner{plan.Mismatch, o.Namespace, o.Name}
				if orphaning(o) {
					owner.state = plan.Orphaning
				}
				owners[o.UID] = owner
			})
			return owners, err
		})
		if s.types == nil {
			s.types = map[graph.Type]func() (map[string]strayOwner, error){}
		}
		s.types[t] = list
	}
	s.mu.Unlock()
	return list()
}

// outside returns the state of an owner that is absent where its reference says, in a listing of
// one namespace. It is a mismatch if it is alive in another namespace, unless it waits there to
// orphan its dependents. If the other namespaces cannot be listed, it is what the collector takes
// it for; with Overrides.KeepMismatched it is unknown.
func (p *pass) outside(ctx context.Context, e graph.Edge, t graph.Type, state plan.OwnerState) plan.OwnerState {
	if p.loop.opts.List.Namespace == "" || p.graph.Observed(e.Owner) {
		return state
	}
	uid := p.graph.Ref(e.Owner).UID
	owners, err := p.elsewhere.owners(ctx, p, t)
	owner, alive := owners[uid]
	if !alive && p.anyType {
		t, owner, alive = p.ofAnotherType(ctx, t, uid)
	}
	switch {
	case alive:
		p.saw(e, graph.Ref{APIVersion: t.APIVersion(), Kind: t.Kind, Resource: t.Resource, Namespace: owner.namespace,
			Name: owner.name, UID: uid})
		return owner.state
	case err != nil && p.loop.opts.Overrides.KeepMismatched:
		return plan.Unknown
	}
	return state
}

// ofAnotherType finds an owner whose reference has the wrong kind, in the namespaces that were not
// listed. Of types that cannot be listed it finds none: for the collector, an owner is absent by
// the kind that the reference has.
func (p *pass) ofAnotherType(ctx context.Context, t graph.Type, uid string) (graph.Type, strayOwner, bool) {
	for _, r := range p.catalog.Resources {
		if !r.Namespaced || r.Type == t {
			continue
		}
		if owners, err := p.elsewhere.owners(ctx, p, r.Type); err == nil {
			if owner, alive := owners[uid]; alive {
				return r.Type, owner, true
			}
		}
	}
	return t, strayOwner{}, false
}
