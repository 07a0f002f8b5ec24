package check

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// carriers are the objects that are checked, with their finalizers.
func (c *checker) carriers() iter.Seq2[graph.ID, []string] {
	g := c.listing.Graph
	return func(yield func(graph.ID, []string) bool) {
		for i, is := range c.of {
			id := graph.ID(i)
			if is && g.Observed(id) && !yield(id, g.Finalizers(id)) {
				return
			}
		}
	}
}

// finalizers looks for whoever removes the finalizers of the objects: for each type and finalizer
// once, or for each object where it may be another.
func (c *checker) finalizers(ctx context.Context, opts Options, report *v1alpha1.CheckReport) error {
	reader := cluster.NewReader(c.client, c.listing.Catalog)
	finder := actor.NewFinder(reader, opts.Known)
	classes, _ := finder.Classes(c.listing.Graph, c.carriers(), 0,
		func(name string, _ finalizer.Known, _ bool) bool {
			return !plan.IsCollectors(name) && name != link.CRDFinalizer
		})
	slices.SortFunc(classes, func(a, b *actor.Class) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind),
			strings.Compare(a.Finalizer, b.Finalizer))
	})
	most := cmp.Or(opts.MaxFinalizers, DefaultMaxFinalizers)
	if len(classes) > most {
		report.NotLookedAt = len(classes) - most
		classes = classes[:most]
	}
	found, left, err := actor.Survey(ctx, finder, c.listing.Graph, classes, most,
		func(_ context.Context, class *actor.Class, _ *unstructured.Unstructured,
			a actor.Actor) *v1alpha1.CheckFinding {
			return c.finalizer(class, a)
		})
	if err != nil {
		return err
	}
	report.NotLookedAt += left
	for _, f := range found {
		if f != nil {
			report.Findings = append(report.Findings, *f)
		}
	}
	report.Gaps = append(report.Gaps, reader.Unread(report.Gaps)...)
	return nil
}

// finalizer is the finding about a finalizer; nil if whoever removes it is alive, or it is not
// known who that is.
func (c *checker) finalizer(class *actor.Class, a actor.Actor) *v1alpha1.CheckFinding {
	g, first, count := c.listing.Graph, class.Objects[0], len(class.Objects)
	code := FinalizerActorNotFound
	switch {
	case a.Life == actor.Dead:
		code = FinalizerActorDead
	case !a.NotFound():
		return nil
	}
	who := cmp.Or(a.Who, "whoever removes it")
	f := &v1alpha1.CheckFinding{
		Object: g.Ref(first), Code: string(code), Severity: string(byCode[code].Severity),
		Effect:    string(BlockDeletion),
		Finalizer: class.Finalizer, Actor: a.Who, Count: count, Evidence: a.Says(),
	}
	f.Message = fmt.Sprintf("finalizer %s: %s, which removes it, was not found", class.Finalizer, who)
	f.Remedy = "Find out whether it runs under another name. If it was uninstalled, install it again before you delete objects that have the finalizer."
	if code == FinalizerActorDead {
		f.Message = fmt.Sprintf("finalizer %s: %s, which must remove it, is not running", class.Finalizer, who)
		f.Remedy = "Start it again before you delete objects that have the finalizer."
	}
	if count > 1 {
		f.Message += "; " + phrase.Count(count, "object") + " of the type have it"
	}
	f.Consequence = "once the object is deleted, it is never gone, and owners that wait for it neither"
	if g.State(first) == graph.Deleting {
		f.Consequence = "the deletion of the object does not complete"
	}
	f.Commands = []string{phrase.Command("kubectl", "gc", "explain", class.Finalizer)}
	return f
}
