package diagnose

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Why says why the objects of a query are still there, or everything that is being deleted in its
// scope. It lists what they can wait for, and then reads live.
func Why(ctx context.Context, q *selection.Query, opts Options) (*v1alpha1.Diagnosis, error) {
	q.Scope, q.ByName = scopeOf(q), true
	s, subjects, elsewhere, err := survey(ctx, q, q.Scope, opts)
	if err != nil {
		return nil, err
	}
	if elsewhere {
		everywhere, of, _, err := survey(ctx, q, "", opts)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil: // who may list one namespace need not be able to list all
			s.Unlinked = append(s.Unlinked,
				v1alpha1.Gap{Resource: "*", Reason: v1alpha1.GapFailed, Links: true,
					Message: "where links lead to was not listed: " + err.Error()})
		default:
			s, subjects = everywhere, of
		}
	}
	return Examine(ctx, q.Client, s, subjects, opts)
}

// survey lists a namespace, or everything if it is empty, and finds in it what a query asks about,
// and the links that matter for that. Elsewhere says that one leads out of the namespace.
func survey(ctx context.Context, q *selection.Query, scope string, opts Options) (s core.Snapshot, of Subjects,
	elsewhere bool, err error) {
	within := *q
	within.Scope = scope
	listed, err := within.List(ctx)
	if err != nil {
		return s, of, false, err
	}
	s = core.Snapshot{Catalog: q.Catalog, Graph: listed.Graph, Gaps: listed.Gaps}
	if of, err = subjectsOf(ctx, q, s); err == nil {
		err = q.Nothing(ctx, listed)
	}
	if err != nil {
		return s, of, false, err
	}
	s, elsewhere, err = follow(ctx, q.Client, s, scope, of, opts.Known)
	return s, of, elsewhere, err
}

// scopeOf is the namespace to list: that of the objects, or a namespace itself if that is what is
// asked about.
func scopeOf(q *selection.Query) string {
	if q.AllNamespaces || len(q.Objects) == 0 {
		return q.ListingScope(false)
	}
	scope := ""
	for i, o := range q.Objects {
		in := o.Namespace
		if o.Type.Group == "" && o.Type.Resource == cluster.Namespaces.Resource {
			in = o.Name
		}
		if in == "" || i > 0 && in != scope {
			return ""
		}
		scope = in
	}
	return scope
}

// subjectsOf are what is asked about by name: what was seen, and what lies in a gap.
func subjectsOf(ctx context.Context, q *selection.Query, s core.Snapshot) (Subjects, error) {
	var all Subjects
	var missing []error
	for _, o := range q.Objects {
		if id, ok := s.Graph.Find(o.Group, o.Resource.Resource, o.Namespace, o.Name); ok {
			all.Observed = append(all.Observed, id)
			continue
		}
		// What the user may not see is the server's to refuse, in its own words.
		if gap, hidden := gapOf(s.Gaps, o.Type, o.Namespace); hidden && !gap.Reason.OfReader() {
			all.Hidden = append(all.Hidden, Hidden{Object: o.Type.Ref(o.Namespace, o.Name, ""), Gap: gap})
			continue
		}
		missing = append(missing, q.ExplainMissing(ctx, s.Graph, o))
	}
	for _, t := range q.Types {
		if gap, hidden := gapOf(s.Gaps, t.Type, q.Scope); hidden {
			missing = append(missing, fmt.Errorf("%s could not be listed: %s", gap.TypeName(), gap.Message))
		}
	}
	if len(q.Objects) == 0 {
		all.In = looksAt(q, s.Graph)
	}
	return all, errors.Join(missing...)
}

// gapOf finds the gap in which an object of a type and namespace would be.
func gapOf(gaps []v1alpha1.Gap, t graph.Type, namespace string) (v1alpha1.Gap, bool) {
	for _, gap := range gaps {
		if gap.Hides(t.Group, t.Resource, namespace) {
			return gap, true
		}
	}
	return v1alpha1.Gap{}, false
}

// looksAt says what is looked at if nothing is named: what the type and the selector select, and
// without a type what is in the namespace, and the namespace.
func looksAt(q *selection.Query, g *graph.Graph) func(graph.ID) bool {
	selected := graph.SetOf(q.Matching(g))
	return func(id graph.ID) bool {
		ref := g.Ref(id)
		if ref.Namespace != "" && q.Scope != "" && ref.Namespace != q.Scope {
			return false // more was listed than was asked about
		}
		return selected[id] || q.All() && q.Scope != "" && ref.Group() == "" && ref.Resource == "namespaces" &&
			ref.Name == q.Scope
	}
}
