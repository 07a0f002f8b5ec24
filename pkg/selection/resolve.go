package selection

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Resolve finds out what a request means on a server. It asks for nothing but discovery. It ends
// with ctx.
func Resolve(ctx context.Context, getter genericclioptions.RESTClientGetter, cat *cluster.Catalog,
	req Request) (Selection, error) {
	selector, err := req.Selector()
	r := Selection{Selector: selector}
	if err != nil {
		return r, err
	}
	mapper, err := getter.ToRESTMapper()
	if err != nil {
		return r, err
	}
	if len(req.Args) == 0 && !req.HasFiles() {
		return r, nil
	}
	if len(req.Args) == 1 && !strings.Contains(req.Args[0], "/") {
		for _, name := range strings.Split(req.Args[0], ",") {
			t, err := findType(mapper, cat, name)
			if err != nil {
				return r, err
			}
			r.Types = append(r.Types, t)
		}
		return r, nil
	}
	infos, err := infosOf(ctx, resource.NewBuilder(getter).
		Unstructured().
		ContinueOnError().
		NamespaceParam(req.Namespace).DefaultNamespace().AllNamespaces(req.AllNamespaces).
		FilenameParam(false, &req.Files).
		ResourceTypeOrNameArgs(false, req.Args...).
		RequireObject(false).
		Flatten())
	if err != nil {
		return r, SuggestType(err, cat)
	}
	for _, info := range infos {
		t, known := cat.Lookup(info.Mapping.Resource.GroupResource())
		if !known {
			return r, fmt.Errorf("the server doesn't list %s", info.Mapping.Resource.GroupResource())
		}
		o := Object{Resource: t, Namespace: info.Namespace, Name: info.Name}
		if !t.Namespaced {
			o.Namespace = ""
		}
		r.Objects = append(r.Objects, o)
	}
	if len(r.Objects) == 0 {
		return r, errors.New("no objects passed")
	}
	return r, nil
}

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
