package ownership

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// mostNeeds is how many objects are read to see whether they are there. The others count as there.
const mostNeeds = 100

// askNeeds finds out which ends do not come back, because something that their source names, and
// without which the program creates nothing, does not exist. The error is the end of ctx.
func (s *search) askNeeds(ctx context.Context) error {
	absent := map[graph.Ref]bool{}
	for i := range s.links {
		if r := s.links[i].Recreation; r != nil &&
			slices.ContainsFunc(r.Needed, func(n link.Named) bool { return s.lacks(ctx, n, absent) }) {
			s.links[i].Recreation = nil
		}
	}
	return context.Cause(ctx)
}

// lacks reports whether it is proven that an object does not exist, in none of the resources of its
// kind.
func (s *search) lacks(ctx context.Context, n link.Named, absent map[graph.Ref]bool) bool {
	types := s.kinds[schema.GroupKind{Group: n.Group, Kind: n.Kind}]
	return len(types) > 0 && !slices.ContainsFunc(types,
		func(t graph.Type) bool { return !s.isAbsent(ctx, t, n, absent) })
}

// isAbsent is lacks for one resource. What was read before is not read again.
func (s *search) isAbsent(ctx context.Context, t graph.Type, n link.Named, absent map[graph.Ref]bool) bool {
	ref := t.Ref(t.Place(n.Namespace), n.Name, "")
	if id, listed := s.Graph.Find(t.Group, t.Resource, ref.Namespace, n.Name); listed && s.Graph.Observed(id) {
		return false
	}
	is, read := absent[ref]
	if !read && len(absent) < mostNeeds {
		_, err := s.client.GetMeta(ctx, t, ref.Namespace, n.Name)
		is = cluster.IsAbsent(err, t, n.Name)
		absent[ref] = is
	}
	return is
}
