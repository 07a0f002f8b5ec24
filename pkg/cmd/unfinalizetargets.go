package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// targets finds out which objects are meant: in batches, of which each is to be done before the next.
func (f *unfinalizeFlags) targets(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, r *unfinalizeRequest) ([][]unfinalize.Target, []v1alpha1.Gap, error) {
	namespace, err := f.namespace()
	if err != nil {
		return nil, nil, err
	}
	args := r.args
	if f.tree != "" {
		args = []string{f.tree}
	}
	meant, err := interruptible(ctx, func() (roots, error) {
		return f.rootFlags.resolve(newFreshGetter(f.config, client), catalog, namespace, r.selector, args)
	})
	if err != nil {
		return nil, nil, err
	}
	if !r.bulk {
		var targets []unfinalize.Target
		for _, o := range meant.objects {
			targets = append(targets, unfinalize.Target{Type: o.Type, Namespace: o.namespace, Name: o.name})
		}
		return [][]unfinalize.Target{targets}, nil, nil
	}
	req := &treeRequest{client: client, catalog: catalog, roots: meant, namespace: namespace}
	req.scope = req.listingScope(f.allNamespaces, false)
	g, gaps, err := f.list(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	if err := req.unseen(gaps); err != nil {
		return nil, nil, err
	}
	batches, err := f.pick(ctx, req, g)
	if err != nil {
		return nil, nil, err
	}
	var targets [][]unfinalize.Target
	for _, ids := range batches {
		var batch []unfinalize.Target
		for _, id := range ids {
			t, _ := g.Type(id)
			ref := g.Ref(id)
			batch = append(batch, unfinalize.Target{Type: t, Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID})
		}
		targets = append(targets, batch)
	}
	return targets, gaps, nil
}

// list lists what the objects can be among.
func (f *unfinalizeFlags) list(ctx context.Context, req *treeRequest) (*graph.Graph, []v1alpha1.Gap, error) {
	opts := cluster.ListOptions{Namespace: req.scope, Fallback: []string{req.namespace}, Selector: req.roots.selector}
	if types := req.roots.types; len(types) > 0 {
		opts.Types = func(r cluster.Resource) bool {
			return slices.ContainsFunc(types, func(t cluster.Resource) bool { return t.Type == r.Type })
		}
	}
	progress := newProgress(f.ErrOut)
	defer progress.done()
	if progress != nil {
		opts.Progress = progress.report
	}
	builder := graph.NewBuilder()
	listed, err := req.client.List(ctx, req.catalog, opts, builder)
	if err != nil {
		return nil, nil, err
	}
	g, err := interruptible(ctx, func() (*graph.Graph, error) { return builder.Build(), nil })
	return g, listed.Gaps, err
}

// pick returns those of the objects listed that are meant and may have one of the finalizers.
func (f *unfinalizeFlags) pick(ctx context.Context, req *treeRequest, g *graph.Graph) ([][]graph.ID, error) {
	has := func(id graph.ID) bool {
		r := g.Ref(id)
		// Of the spec of a namespace a listing shows nothing.
		return g.Seen(id) && (r.Resource == "namespaces" && r.Group() == "" ||
			slices.ContainsFunc(g.Finalizers(id), func(name string) bool { return slices.Contains(f.finalizers, name) }))
	}
	stuck := func(id graph.ID) bool { return has(id) && g.State(id) == graph.Deleting }
	switch {
	case f.tree != "":
		roots, _, err := req.find(ctx, g)
		if err != nil {
			return nil, err
		}
		var batches [][]graph.ID
		for _, batch := range unfinalize.LeavesFirst(g, roots[0], link.New(g).Dependents) {
			if batch = filter(batch, stuck); len(batch) > 0 {
				batches = append(batches, batch)
			}
		}
		return batches, nil
	case f.allStuck:
		var ids []graph.ID
		for i := range g.Len() {
			if id := graph.ID(i); stuck(id) && (f.allNamespaces || g.Ref(id).Namespace == req.namespace) {
				ids = append(ids, id)
			}
		}
		return [][]graph.ID{ids}, nil
	}
	return [][]graph.ID{filter(req.matching(g), has)}, nil
}

// judged are cases in the batches of their targets.
type judged [][]*unfinalize.Case

func (j judged) all() []*unfinalize.Case { return slices.Concat(j...) }

// keep returns the cases that match.
func (j judged) keep(matches func(*unfinalize.Case) bool) judged {
	var kept judged
	for _, batch := range j {
		batch = slices.DeleteFunc(slices.Clone(batch), func(c *unfinalize.Case) bool { return !matches(c) })
		if len(batch) > 0 {
			kept = append(kept, batch)
		}
	}
	return kept
}

// judge judges the targets. Of many that were found by listing, those that are gone or do not have the finalizer any more are left out.
func (f *unfinalizeFlags) judge(ctx context.Context, judge *unfinalize.Judge, r *unfinalizeRequest, targets [][]unfinalize.Target, names namesOf) (judged, error) {
	var all judged
	var failed []error
	for _, batch := range targets {
		cases, errs := judge.Cases(ctx, batch, names)
		var kept []*unfinalize.Case
		for i, c := range cases {
			t := batch[i]
			switch err := errs[i]; {
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case err != nil && r.bulk && (errors.Is(err, unfinalize.ErrReplaced) || cluster.IsAbsent(err, t.Type, t.Name)):
			case err != nil:
				failed = append(failed, err)
			case !r.bulk || c.Drop(unfinalize.NotThere):
				kept = append(kept, c)
			}
		}
		if len(kept) > 0 {
			all = append(all, kept)
		}
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	forgive(all)
	f.suggest(all)
	return all, nil
}

// forgive takes back that an object does not have a finalizer if it has another that was named, and if the name is no mistake: another object has it.
func forgive(all judged) {
	there := map[string]bool{}
	for _, c := range all.all() {
		for _, v := range c.Verdicts {
			there[v.Name] = there[v.Name] || v.Field != ""
		}
	}
	for _, c := range all.all() {
		if slices.ContainsFunc(c.Verdicts, func(v unfinalize.Verdict) bool { return v.Field != "" }) {
			c.Verdicts = slices.DeleteFunc(c.Verdicts, func(v unfinalize.Verdict) bool { return v.Field == "" && there[v.Name] })
		}
	}
}

// suggest adds the nearest of an object's finalizers to the refusal of a name that it does not have.
func (f *unfinalizeFlags) suggest(all judged) {
	for _, c := range all.all() {
		var names []string
		for _, h := range unfinalize.On(c.Object) {
			names = append(names, h.Name)
		}
		for i := range c.Verdicts {
			v := &c.Verdicts[i]
			for j := range v.Refusals {
				if v.Refusals[j].Code == unfinalize.NotThere && v.Refusals[j].Hint == "" && len(names) > 0 {
					v.Refusals[j].Hint = didYouMean(v.Name, slices.Clone(names))
				}
			}
		}
	}
}

// nothingStuck says that there is nothing to do.
func (f *unfinalizeFlags) nothingStuck(gaps []v1alpha1.Gap) error {
	if !f.output.isOwn() {
		if f.dryRun != "none" {
			return f.output.write(f.Out, f.planObject(nil, unfinalize.Terms{}, gaps))
		}
		return f.output.write(f.Out, f.resultObject(nil, nil, nil, unfinalize.Terms{}, gaps))
	}
	found := "No resources found that have the finalizer"
	if len(gaps) > 0 {
		found = "Nothing found that has the finalizer among what could be listed"
	}
	fmt.Fprintln(f.ErrOut, found)
	return nil
}
