package selection

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Lookup finds an object in a listing: by its uid if it was resolved to one, by its name if that is
// what the user gave.
func (o Object) Lookup(g *graph.Graph) (graph.ID, bool) {
	if o.UID == "" {
		return g.Find(o.Group, o.Resource.Resource, o.Namespace, o.Name)
	}
	id, ok := g.Lookup(o.UID)
	return id, ok && g.Observed(id)
}

// MatchAgain returns what says whether an object that was listed still matches the selectors. The
// listing shows labels. Fields only the server knows, so it is asked again about the objects that
// have changed since it was asked first.
func (r Request) MatchAgain(ctx context.Context, client *cluster.Client, g *graph.Graph,
	objects []Object) (func(Object, graph.ID) bool, error) {
	selectors := r.Selectors()
	if !r.Selects() {
		return func(Object, graph.ID) bool { return true }, nil
	}
	changed := func(o Object, id graph.ID) bool {
		return selectors.Fields != "" && o.ResourceVersion != g.ResourceVersion(id)
	}
	type scope struct {
		t         graph.Type
		namespace string
	}
	asked, matching := map[scope]bool{}, map[string]bool{}
	for _, o := range objects {
		id, ok := o.Lookup(g)
		s := scope{t: o.Type}
		if !r.AllNamespaces {
			s.namespace = o.Namespace
		}
		if !ok || !changed(o, id) || asked[s] {
			continue
		}
		asked[s] = true
		matches, err := client.ListMatching(ctx, s.t, s.namespace, selectors)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			matching[m.UID] = true
		}
	}
	return func(o Object, id graph.ID) bool {
		return (selectors.Labels == "" || g.Selected(id)) && (!changed(o, id) || matching[o.UID])
	}, nil
}

// StillMatches returns what asks the server whether an object still matches the selectors; nil if
// there are none.
func (r Request) StillMatches(client *cluster.Client) func(context.Context, graph.Type, graph.Ref) (bool, error) {
	selectors := r.Selectors()
	if !r.Selects() || selectors == (cluster.Selection{}) {
		return nil
	}
	return func(ctx context.Context, t graph.Type, ref graph.Ref) (bool, error) {
		one := selectors
		if one.Fields != "" {
			one.Fields += ","
		}
		one.Fields += "metadata.name=" + ref.Name
		matches, err := client.ListMatching(ctx, t, ref.Namespace, one)
		return err == nil && len(matches) == 1 && matches[0].UID == ref.UID, err
	}
}
