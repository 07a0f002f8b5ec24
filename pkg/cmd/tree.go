package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// treeFlags mirror the flags of kubectl gc tree.
type treeFlags struct {
	*common
	roots   rootFlags
	output  *outputFlags
	owners  bool
	depth   int
	types   []string
	exclude []string
	links   bool
	watch   bool
}

func newTree(c *common) *cobra.Command {
	f := &treeFlags{common: c, output: newOutputFlags("wide", "name", "dot", "mermaid"), depth: -1, links: true}
	cmd := &cobra.Command{
		Use:   "tree [TYPE/NAME ... | TYPE NAME ... | TYPE [-l SELECTOR] | -f FILENAME]",
		Short: "Show what objects own, as a tree",
		Long: `Show the dependents of objects as a tree, whatever their types and whether they are namespaced or not.

Without arguments it shows everything in the namespace, or in the cluster with -A. An object with several
owners is expanded under the first and marked under the others. An owner that is referenced and not there is
a row of its own: Absent if its type was listed completely without it, Unknown if it lies in a gap. Gaps are
printed to stderr, and are in the JSON.

STATE is what kubectl get calls STATUS where it has one, and Deleting with the time since the
deletionTimestamp for an object that is being deleted.`,
		Example: `  # What does a deployment own?
  kubectl gc tree deployment/web

  # Everything in a namespace, with the edges and the owners
  kubectl gc tree -n shop -o wide

  # Who owns this pod?
  kubectl gc tree pod web-5d9c-x2x --owners

  # Every tree in the cluster, as JSON
  kubectl gc tree -A -o json

  # A custom resource definition and its instances, without the rows of secrets and config maps
  kubectl gc tree crd widgets.example.com --exclude-types secrets,configmaps

  # Draw it
  kubectl gc tree deployment/web -o dot | dot -Tsvg > web.svg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			selector, err := f.validate(cmd, args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), selector, args)
		},
		ValidArgsFunction: c.completeObjects,
	}
	f.roots.add(cmd)
	f.output.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.owners, "owners", false, "Walk upwards: show what owns the objects, and what owns that")
	flags.IntVar(&f.depth, "depth", f.depth, "Distance from the objects named to which the tree is shown; negative shows all of it")
	flags.StringSliceVar(&f.types, "types", nil, "Show only rows of these types: globs of names, short names, kinds or groups")
	flags.StringSliceVar(&f.exclude, "exclude-types", nil, "Show no rows of these types")
	flags.BoolVar(&f.links, "links", f.links, "Also follow what no ownerReference records: definitions to their instances, namespaces to their content")
	flags.BoolVarP(&f.watch, "watch", "w", false, "After showing the tree, watch for changes and show it again")
	cmd.RegisterFlagCompletionFunc("types", c.completeTypeList)
	cmd.RegisterFlagCompletionFunc("exclude-types", c.completeTypeList)
	return cmd
}

func (f *treeFlags) validate(cmd *cobra.Command, args []string) (labels.Selector, error) {
	selector, err := f.roots.validate(cmd, args)
	if err != nil {
		return nil, err
	}
	named := len(args) > 0 || selector != nil || len(f.roots.files.Filenames) > 0 || f.roots.files.Kustomize != ""
	switch {
	case f.owners && !named:
		return nil, usage(cmd, "--owners needs an object to begin with")
	case f.watch && !f.output.isOwn():
		return nil, usage(cmd, "--watch cannot be used together with -o %s", f.output.format())
	}
	return selector, f.output.validate(cmd)
}

// treeRequest is what the flags and arguments come to on this server.
type treeRequest struct {
	client    *cluster.Client
	catalog   *cluster.Catalog
	roots     roots
	namespace string // of -n; where the roots are
	scope     string // what is listed, empty for everywhere
	shows     func(graph.Ref) bool
	uids      []string // of the roots, once they were shown by --watch
	drawn     bool
}

func (f *treeFlags) run(ctx context.Context, selector labels.Selector, args []string) error {
	req, err := f.request(ctx, selector, args)
	if err != nil {
		return err
	}
	if f.watch {
		return f.watchTree(ctx, req)
	}
	return f.show(ctx, req)
}

func (f *treeFlags) request(ctx context.Context, selector labels.Selector, args []string) (*treeRequest, error) {
	namespace, err := f.common.namespace()
	if err != nil {
		return nil, err
	}
	client, err := f.client()
	if err != nil {
		return nil, err
	}
	catalog, err := interruptible(ctx, client.Discover)
	if err != nil {
		return nil, err
	}
	r, err := interruptible(ctx, func() (roots, error) {
		return f.roots.resolve(newFreshGetter(f.config, client), catalog, namespace, selector, args)
	})
	if err != nil {
		return nil, err
	}
	filter, err := parseTypeFilter(f.types, f.exclude, catalog)
	if err != nil {
		return nil, err
	}
	req := &treeRequest{client: client, catalog: catalog, roots: r, namespace: namespace, shows: filter.shows(catalog)}
	req.scope = req.listingScope(f.roots.allNamespaces, f.owners)
	return req, nil
}

// listingScope is the namespace to list. A namespaced object's dependents can only be in its namespace; a
// cluster-scoped one's can be anywhere. Owners are in the same namespace or in none.
func (r *treeRequest) listingScope(allNamespaces, owners bool) string {
	if allNamespaces || r.roots.clusterScoped() && !owners {
		return ""
	}
	scope := r.namespace
	for i, o := range r.roots.objects {
		if i > 0 && o.Namespaced && o.namespace != scope {
			return ""
		}
		if o.Namespaced {
			scope = o.namespace
		}
	}
	return scope
}

// show lists, and prints the tree.
func (f *treeFlags) show(ctx context.Context, req *treeRequest) error {
	snapshot, err := interruptible(ctx, func() (*treeSnapshot, error) { return f.snapshot(ctx, req) })
	if err != nil {
		return err
	}
	warnGaps(f.ErrOut, snapshot.gaps)
	if len(snapshot.Rows) == 0 && f.output.isOwn() {
		f.nothing(req, snapshot)
		return nil
	}
	return f.print(ctx, snapshot)
}

// print prints a snapshot, for as long as somebody reads it.
func (f *treeFlags) print(ctx context.Context, s *treeSnapshot) error {
	_, err := interruptible(ctx, func() (any, error) { return nil, f.write(s) })
	return err
}

func (f *treeFlags) write(s *treeSnapshot) error {
	switch f.output.format() {
	case "", "wide":
		return render.TreeTable(f.Out, s.Tree, f.style(f.output.format() == "wide"))
	case "name":
		return render.TreeNames(f.Out, s.Tree)
	case "dot":
		return render.TreeDOT(f.Out, s.Tree)
	case "mermaid":
		return render.TreeMermaid(f.Out, s.Tree)
	}
	return f.output.write(f.Out, render.TreeObject(s.Tree, s.gaps))
}

// nothing says so in kubectl's words, unless there may be something in a gap.
func (f *treeFlags) nothing(req *treeRequest, s *treeSnapshot) {
	found := "No resources found"
	if len(s.gaps) > 0 {
		found = "Nothing found among what could be listed"
	}
	if req.scope == "" {
		fmt.Fprintln(f.ErrOut, found)
		return
	}
	fmt.Fprintf(f.ErrOut, "%s in %s namespace.\n", found, render.Escape(req.scope))
}

// list lists what is in scope, and shows how far it has come.
func (r *treeRequest) list(ctx context.Context, errOut io.Writer) (*graph.Graph, *cluster.Listed, error) {
	builder := graph.NewBuilder()
	opts := cluster.ListOptions{Namespace: r.scope, Fallback: []string{r.namespace}, Selector: r.roots.selector}
	progress := newProgress(errOut)
	defer progress.done()
	if progress != nil {
		opts.Progress = progress.report
	}
	listed, err := r.client.List(ctx, r.catalog, opts, builder)
	if err != nil {
		return nil, nil, err
	}
	g, err := interruptible(ctx, func() (*graph.Graph, error) { return builder.Build(), nil })
	return g, listed, err
}

// treeSnapshot is one look at the cluster.
type treeSnapshot struct {
	render.Tree
	gaps      []v1alpha1.Gap
	positions []cluster.Position
	// forest is true when all there is in scope is shown.
	forest bool
}

func (f *treeFlags) snapshot(ctx context.Context, req *treeRequest) (*treeSnapshot, error) {
	g, listed, err := req.list(ctx, f.ErrOut)
	if err != nil {
		return nil, err
	}
	if err := req.unseen(listed.Gaps); err != nil {
		return nil, err
	}
	ids, show, err := req.find(ctx, g)
	if err != nil {
		return nil, err
	}
	treeOptions := graph.TreeOptions{Owners: f.owners, Depth: f.depth, Show: show, HideRoots: req.roots.all()}
	if f.links && !req.roots.all() {
		treeOptions.Links = link.New(g).Dependents
	}
	tree := render.Tree{Graph: g, Rows: g.Tree(ids, treeOptions), Now: time.Now()}
	if f.wantsReadings() {
		printed := tree
		if f.output.isOwn() {
			printed.Rows = f.style(f.output.format() == "wide").Drawn(tree.Rows)
		}
		tree.Readings, err = readings(ctx, req.client, printed)
		if err != nil {
			return nil, err
		}
	}
	return &treeSnapshot{Tree: tree, gaps: listed.Gaps, positions: listed.Positions, forest: len(req.roots.objects) == 0}, nil
}

// wantsReadings is false for the formats that have no place for them.
func (f *treeFlags) wantsReadings() bool {
	switch f.output.format() {
	case "name", "dot", "mermaid":
		return false
	}
	return true
}

// find returns the roots of the tree and what of it has rows.
func (r *treeRequest) find(ctx context.Context, g *graph.Graph) ([]graph.ID, func(graph.ID) bool, error) {
	var show func(graph.ID) bool
	if r.shows != nil {
		show = func(id graph.ID) bool { return r.shows(g.Ref(id)) }
	}
	if r.roots.all() {
		ids, related := r.forest(g)
		if show == nil {
			return ids, related, nil
		}
		return ids, func(id graph.ID) bool { return show(id) && (related == nil || related(id)) }, nil
	}
	var ids []graph.ID
	for _, uid := range r.uids {
		if id, ok := g.Lookup(uid); ok {
			ids = append(ids, id)
		}
	}
	if len(r.uids) > 0 {
		return ids, show, nil
	}
	var missing []error
	for _, o := range r.roots.objects {
		id, ok := g.Find(o.Group, o.Resource.Resource, o.namespace, o.name)
		if !ok {
			missing = append(missing, r.explainMissing(ctx, g, o))
			continue
		}
		ids = append(ids, id)
	}
	if len(missing) > 0 {
		return nil, nil, errors.Join(missing...)
	}
	if len(r.roots.objects) > 0 {
		return ids, show, nil
	}
	return r.matching(g), show, nil
}

func filter(ids []graph.ID, keep func(graph.ID) bool) []graph.ID {
	var kept []graph.ID
	for _, id := range ids {
		if keep(id) {
			kept = append(kept, id)
		}
	}
	return kept
}

// forest returns the roots of everything in scope. In one namespace, cluster-scoped objects are only of interest as owners
// of what is in it, or as its dependents.
func (r *treeRequest) forest(g *graph.Graph) ([]graph.ID, func(graph.ID) bool) {
	if r.scope == "" {
		return g.Roots(), nil
	}
	related := g.Related(func(id graph.ID) bool { return g.Ref(id).Namespace == r.scope })
	shows := func(id graph.ID) bool { return related[id] }
	return filter(g.Roots(), shows), shows
}

// matching returns the objects of the types that match the selector.
func (r *treeRequest) matching(g *graph.Graph) []graph.ID {
	wanted := map[[2]string]bool{}
	for _, t := range r.roots.types {
		wanted[[2]string{t.Group, t.Resource}] = true
	}
	var ids []graph.ID
	for i := range g.Len() {
		id := graph.ID(i)
		if !g.Seen(id) || r.roots.selector != nil && !g.Selected(id) {
			continue
		}
		ref := g.Ref(id)
		if len(wanted) > 0 && !wanted[[2]string{ref.Group(), ref.Resource}] {
			continue
		}
		if len(wanted) == 0 && r.scope != "" && ref.Namespace != r.scope {
			continue // without a type, -n means what is in it
		}
		ids = append(ids, id)
	}
	return ids
}
