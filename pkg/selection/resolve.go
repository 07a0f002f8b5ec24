package selection

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/suggest"
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
		o := Object{Resource: t, Namespace: t.Place(info.Namespace), Name: info.Name}
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

// MatchAgain returns what reports whether an object that was listed still matches the selectors.
// The listing shows labels. Fields only the server knows, so it is asked again about the objects
// that have changed since it was asked first.
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

// mostHints is for how many objects that are not there a near name is looked for. Nobody reads
// more.
const mostHints = 10

// ErrAnother says that another object has the name of one that was meant.
var ErrAnother = errors.New("another object has its name now")

// ExplainAll explains each of the objects, side by side and in their order.
func (q *Query) ExplainAll(ctx context.Context, g *graph.Graph, objects []Object) []error {
	errs := make([]error, len(objects))
	cluster.Each(q.Client, objects, func(i int, o Object) {
		errs[i] = q.explain(ctx, g, o, i < mostHints)
	})
	return errs
}

// ExplainMissing asks the server for an object that was not listed, so that the error is the
// server's own word: not found, or forbidden. If the object is there after all, its type cannot be
// listed.
func (q *Query) ExplainMissing(ctx context.Context, g *graph.Graph, o Object) error {
	return q.explain(ctx, g, o, true)
}

func (q *Query) explain(ctx context.Context, g *graph.Graph, o Object, hint bool) error {
	now, err := q.Client.GetMeta(ctx, o.Type, o.Namespace, o.Name)
	switch {
	case err == nil && o.UID != "" && now.UID != o.UID:
		return ErrAnother
	case err == nil && !o.Deletable():
		return fmt.Errorf(
			"%s %q cannot be shown: the server does not offer to list, watch and delete %s, so nothing collects them",
			o.Resource.Resource, o.Name, o.Resource.Resource)
	case err == nil:
		return fmt.Errorf(
			"%s %q exists and was not among the objects listed: it was created just now, or its type may not be listed; try again",
			o.Resource.Resource, o.Name)
	case hint && (apierrors.IsNotFound(err) || cluster.IsNotSaved(err)):
		if elsewhere := q.elsewhere(ctx, o); elsewhere != "" {
			return answer.WithHint(err, elsewhere)
		}
		return answer.WithHint(err, q.nearName(g, o))
	}
	return err
}

// Unlisted is an error if a type that was asked for could not be listed: that none of its objects
// are shown would look as if there were none. What a dump has of it is shown, with the gap.
func (q *Query) Unlisted(g *graph.Graph, gaps []v1alpha1.Gap) error {
	for _, t := range q.Types {
		for _, gap := range gaps {
			shown := func() bool { return gap.Reason == v1alpha1.GapNotSaved && len(q.Matching(g)) > 0 }
			if gap.Resource == t.Resource && gap.Group == t.Group && !shown() {
				return fmt.Errorf("%s could not be listed: %s", gap.TypeName(), gap.Message)
			}
		}
	}
	return nil
}

// Nothing is an error if a query without names means nothing because of what was typed: in the
// server's words if its namespace does not exist and nothing was seen in it, and if no object
// matches its selector, in a type that was named or in all. A gate that checks nothing passes
// everything. That a type which was named could not be listed is for Unlisted to say.
func (q *Query) Nothing(ctx context.Context, listed *Snapshot) error {
	if len(q.Objects) > 0 {
		return nil
	}
	if err := NamespaceExists(ctx, q.Client, q.Catalog, listed.Graph, q.Scope); err != nil {
		return err
	}
	seen := len(q.Types) > 0 || len(listed.Gaps) == 0 // otherwise one may match that could not be listed
	if q.Selector != nil && seen && len(q.Matching(listed.Graph)) == 0 {
		where := ""
		if q.Scope != "" {
			where = fmt.Sprintf(" in namespace %q", q.Scope)
		}
		return fmt.Errorf("no object%s matches the selector %q", where, q.Selector)
	}
	return nil
}

// WithPlace adds to the server's word that one of the objects does not exist in which other
// namespaces there is one of its name.
func (q *Query) WithPlace(ctx context.Context, err error) error {
	for _, o := range q.Objects {
		if cluster.IsAbsent(err, o.Type, o.Name) || cluster.IsNotSaved(err) && len(q.Objects) == 1 {
			return answer.WithHint(err, q.elsewhere(ctx, o))
		}
	}
	return err
}

// elsewhere says in which other namespaces there is an object of that type and name, as far as the
// server tells.
func (q *Query) elsewhere(ctx context.Context, o Object) string {
	if !o.Namespaced {
		return ""
	}
	// A hint is no reason for another error, and those that were seen before it are there.
	matches, _ := q.Client.ListMatching(ctx, o.Type, "", cluster.Selection{Fields: "metadata.name=" + o.Name})
	var namespaces []string
	for _, m := range matches {
		if m.Name == o.Name && m.Namespace != o.Namespace {
			namespaces = append(namespaces, m.Namespace)
		}
	}
	if len(namespaces) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %q exists in %s %s", o.Resource.Resource, o.Name,
		phrase.Plural(len(namespaces), "namespace", "the namespaces"), phrase.SortedFew(namespaces))
}

// nearName suggests an object of the same type and namespace with a similar name.
func (q *Query) nearName(g *graph.Graph, o Object) string {
	near := suggest.New(o.Name)
	for id := range g.OfType(o.Group, o.Resource.Resource, o.Namespace) {
		near.Consider(g.Name(id))
	}
	return near.Hint()
}
