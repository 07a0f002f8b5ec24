package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// class are the objects of one type that have one finalizer. Whoever removes it is looked for at the first of them.
type class struct {
	group, kind, finalizer string
	first                  graph.ID
	count                  int
}

// classes are the finalizers of the objects that are checked, but for those of the collector and of CRDs, which the API server removes.
func (c *checker) classes() []*class {
	g := c.listing.Graph
	byKey := map[[3]string]*class{}
	var all []*class
	for i, is := range c.of {
		id := graph.ID(i)
		if !is || !g.Observed(id) || len(g.Finalizers(id)) == 0 {
			continue
		}
		ref := g.Ref(id)
		for _, name := range g.Finalizers(id) {
			if name == plan.ForegroundFinalizer || name == plan.OrphanFinalizer || name == link.CRDFinalizer {
				continue
			}
			key := [3]string{ref.Group(), ref.Kind, name}
			if byKey[key] == nil {
				byKey[key] = &class{ref.Group(), ref.Kind, name, id, 0}
				all = append(all, byKey[key])
			}
			byKey[key].count++
		}
	}
	slices.SortFunc(all, func(a, b *class) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.kind, b.kind), strings.Compare(a.finalizer, b.finalizer))
	})
	return all
}

// finalizers looks for whoever removes the finalizers of the objects, for each type and finalizer once.
func (c *checker) finalizers(ctx context.Context, opts Options, report *v1alpha1.CheckReport) error {
	classes := c.classes()
	if most := cmp.Or(opts.MaxFinalizers, DefaultMaxFinalizers); len(classes) > most {
		report.NotLookedAt = len(classes) - most
		classes = classes[:most]
	}
	reader := cluster.NewReader(c.client, c.listing.Catalog)
	finder := actor.NewFinder(reader, opts.Known)
	found := make([]*v1alpha1.CheckFinding, len(classes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.client.Concurrency())
	for i, class := range classes {
		group.Go(func() (err error) {
			found[i], err = c.finalizer(ctx, reader, finder, class)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, f := range found {
		if f != nil {
			report.Findings = append(report.Findings, *f)
		}
	}
	report.Gaps = append(report.Gaps, reader.Unread(report.Gaps)...)
	return nil
}

// finalizer is the finding about a finalizer; nil if whoever removes it is alive, or it is not known who that is.
func (c *checker) finalizer(ctx context.Context, reader *cluster.Reader, finder *actor.Finder, class *class) (*v1alpha1.CheckFinding, error) {
	g := c.listing.Graph
	ref := g.Ref(class.first)
	t, _ := g.Type(class.first)
	o, err := reader.GetLive(ctx, t, ref.Namespace, ref.Name)
	if err != nil || o == nil || string(o.GetUID()) != ref.UID {
		return nil, context.Cause(ctx) // the reader notes what it cannot read
	}
	a, err := finder.Of(ctx, o, class.finalizer)
	if err != nil {
		return nil, err
	}
	code := FinalizerActorNotFound
	switch {
	case a.Life == actor.Dead:
		code = FinalizerActorDead
	case !a.NotFound():
		return nil, nil
	}
	who := cmp.Or(a.Who, "whoever removes it")
	f := &v1alpha1.CheckFinding{
		Object: v1alpha1.ObjectRef(ref), Code: string(code), Severity: string(byCode[code].Severity), Effect: string(BlockDeletion),
		Finalizer: class.finalizer, Actor: a.Who, Count: class.count, Evidence: a.Says(),
	}
	f.Message = fmt.Sprintf("finalizer %s: %s, which removes it, was not found", class.finalizer, who)
	f.Remedy = "Find out whether it runs under another name. If it was uninstalled, install it again before you delete objects that have the finalizer."
	if code == FinalizerActorDead {
		f.Message = fmt.Sprintf("finalizer %s: %s, which removes it, does not work", class.finalizer, who)
		f.Remedy = "Start it again before you delete objects that have the finalizer."
	}
	if class.count > 1 {
		f.Message += "; " + phrase.Count(class.count, "object") + " of the type have it"
	}
	f.Consequence = "once the object is deleted, it is never gone, and owners that wait for it neither"
	if g.State(class.first) == graph.Deleting {
		f.Consequence = "the deletion of the object does not complete"
	}
	f.Commands = []string{phrase.Command("kubectl", "gc", "explain", class.finalizer)}
	return f, nil
}
