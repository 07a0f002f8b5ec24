package cmd

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Why an object that was meant is left out.
var (
	errNoMatch = errors.New("it no longer matches the selector")
	errAnother = errors.New("another object has its name now")
)

// leftOut is an object that was meant when the server was asked, and is not any more.
type leftOut struct {
	object graph.Ref
	err    error
}

// reasons are why objects are left out, by uid.
func (p *plannedDeletion) reasons() map[string]error {
	reasons := make(map[string]error, len(p.leftOut))
	for _, o := range p.leftOut {
		reasons[o.object.UID] = o.err
	}
	return reasons
}

// mostLeftOut is how many of them are named.
const mostLeftOut = 10

func (f *deleteFlags) warnLeftOut(out []leftOut) {
	for i, o := range out {
		if i == mostLeftOut {
			fmt.Fprintf(f.ErrOut, "Warning: %d more are not deleted: they no longer match the selector, or other objects have their names now\n", len(out)-i)
			return
		}
		fmt.Fprintf(f.ErrOut, "Warning: %s is not deleted: %v\n", withNamespace(o.object, " in "), o.err)
	}
}

// find finds the objects in the listing. An object that has another uid there than when it was resolved, or that no longer matches the selector, is
// left out. One that is not there at all is missing.
func (f *deleteFlags) find(ctx context.Context, r *treeRequest, g *graph.Graph, objects []object, d *deletion, p *plannedDeletion) ([]graph.ID, error) {
	matches, err := f.matchAgain(ctx, r.client, g, objects)
	if err != nil {
		return nil, err
	}
	var ids []graph.ID
	var unlisted []object
	for _, o := range objects {
		id, ok := lookup(g, o)
		switch {
		case !ok:
			unlisted = append(unlisted, o)
		case !matches(o, id):
			p.leftOut = append(p.leftOut, leftOut{o.ref(), errNoMatch})
		default:
			ids = append(ids, id)
		}
	}
	for i, err := range r.explainAll(ctx, g, unlisted) {
		switch {
		case errors.Is(err, errAnother):
			p.leftOut = append(p.leftOut, leftOut{unlisted[i].ref(), err})
		case d.ignoreNotFound && apierrors.IsNotFound(err):
		default:
			p.missing = append(p.missing, err)
		}
	}
	return ids, nil
}

// lookup finds an object in the listing: by its uid if it was resolved to one, by its name if that is what the user gave.
func lookup(g *graph.Graph, o object) (graph.ID, bool) {
	if o.uid == "" {
		return g.Find(o.Group, o.Resource.Resource, o.namespace, o.name)
	}
	id, ok := g.Lookup(o.uid)
	return id, ok && g.Seen(id)
}

// matchAgain returns what says whether an object that was listed still matches the selectors. The listing shows labels. Fields only the server
// knows, so it is asked again about the objects that have changed since it was asked first.
func (f *deleteFlags) matchAgain(ctx context.Context, client *cluster.Client, g *graph.Graph, objects []object) (func(object, graph.ID) bool, error) {
	selectors := f.selectors()
	if !f.selects() {
		return func(object, graph.ID) bool { return true }, nil
	}
	changed := func(o object, id graph.ID) bool { return selectors.Fields != "" && o.version != g.ResourceVersion(id) }
	type scope struct {
		t         graph.Type
		namespace string
	}
	asked, matching := map[scope]bool{}, map[string]bool{}
	for _, o := range objects {
		id, ok := lookup(g, o)
		s := scope{t: o.Type}
		if !f.allNamespaces {
			s.namespace = o.namespace
		}
		if !ok || !changed(o, id) || asked[s] {
			continue
		}
		asked[s] = true
		matches, err := client.Matching(ctx, s.t, s.namespace, selectors)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			matching[m.UID] = true
		}
	}
	return func(o object, id graph.ID) bool {
		return (selectors.Labels == "" || g.Selected(id)) && (!changed(o, id) || matching[o.uid])
	}, nil
}

// stillMeant says whether a root that was changed since it was planned still matches the selectors; nil if there are none.
func (f *deleteFlags) stillMeant(client *cluster.Client) func(context.Context, graph.Type, graph.Ref) (bool, error) {
	selectors := f.selectors()
	if !f.selects() || selectors == (cluster.Selectors{}) {
		return nil
	}
	return func(ctx context.Context, t graph.Type, ref graph.Ref) (bool, error) {
		one := selectors
		if one.Fields != "" {
			one.Fields += ","
		}
		one.Fields += "metadata.name=" + ref.Name
		matches, err := client.Matching(ctx, t, ref.Namespace, one)
		return err == nil && len(matches) == 1 && matches[0].UID == ref.UID, err
	}
}
