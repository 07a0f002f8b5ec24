package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// scope is the namespace to list: that of the objects, or a namespace itself if that is what is asked about.
func (f *whyFlags) scope(req *treeRequest) string {
	if f.roots.allNamespaces || len(req.roots.objects) == 0 {
		return req.listingScope(f.roots.allNamespaces, false)
	}
	scope := ""
	for i, o := range req.roots.objects {
		in := o.namespace
		if isNamespace(o) {
			in = o.name
		}
		if in == "" || i > 0 && in != scope {
			return ""
		}
		scope = in
	}
	return scope
}

func isNamespace(o object) bool { return o.Group == "" && o.Resource.Resource == "namespaces" }

// subjects are what is asked about by name: what was seen, and what lies in a gap.
func (f *whyFlags) subjects(ctx context.Context, req *treeRequest, s diagnose.Survey) (diagnose.Subjects, error) {
	var all diagnose.Subjects
	var missing []error
	for _, o := range req.roots.objects {
		if id, ok := s.Graph.Find(o.Group, o.Resource.Resource, o.namespace, o.name); ok {
			all.Seen = append(all.Seen, id)
			continue
		}
		// What the user may not see is the server's to refuse, in its own words.
		if gap, hidden := gapOf(s.Gaps, o.Type, o.namespace); hidden && gap.Reason != v1alpha1.GapForbidden {
			ref := v1alpha1.ObjectRef{APIVersion: o.APIVersion(), Kind: o.Kind, Resource: o.Resource.Resource, Namespace: o.namespace, Name: o.name}
			all.Hidden = append(all.Hidden, diagnose.Hidden{Object: ref, Gap: gap})
			continue
		}
		missing = append(missing, req.explainMissing(ctx, s.Graph, o))
	}
	for _, t := range req.roots.types {
		if gap, hidden := gapOf(s.Gaps, t.Type, req.scope); hidden {
			missing = append(missing, fmt.Errorf("%s could not be listed: %s", typeName(gap), gap.Message))
		}
	}
	if len(req.roots.objects) == 0 {
		all.In = f.in(req, s.Graph)
	}
	return all, errors.Join(missing...)
}

// namespaceExists is the server's error for a namespace that does not exist and in which nothing was seen, if all that is stuck in it is asked about.
func (f *whyFlags) namespaceExists(ctx context.Context, req *treeRequest, g *graph.Graph) error {
	if req.scope == "" || len(req.roots.objects) > 0 {
		return nil
	}
	if _, ok := g.Find("", cluster.Namespaces.Resource, "", req.scope); ok {
		return nil
	}
	for range g.InNamespace(req.scope) {
		return nil
	}
	r, ok := req.catalog.Lookup(cluster.Namespaces)
	if !ok {
		return nil
	}
	if _, err := req.client.Get(ctx, r.Type, "", req.scope); cluster.IsAbsent(err, r.Type, req.scope) {
		return err
	}
	return nil
}

// gapOf finds the gap in which an object of a type and namespace would be.
func gapOf(gaps []v1alpha1.Gap, t graph.Type, namespace string) (v1alpha1.Gap, bool) {
	for _, gap := range gaps {
		if gap.Group == t.Group && (gap.Resource == t.Resource || gap.Resource == "*") && (gap.Namespace == "" || gap.Namespace == namespace) {
			return gap, true
		}
	}
	return v1alpha1.Gap{}, false
}

// in says what is looked at if nothing is named: what the type and the selector select, and without a type what is in the namespace, and the namespace.
func (f *whyFlags) in(req *treeRequest, g *graph.Graph) func(graph.ID) bool {
	selected := map[graph.ID]bool{}
	for _, id := range req.matching(g) {
		selected[id] = true
	}
	return func(id graph.ID) bool {
		ref := g.Ref(id)
		return selected[id] || req.roots.all() && req.scope != "" && ref.Group() == "" && ref.Resource == "namespaces" && ref.Name == req.scope
	}
}
