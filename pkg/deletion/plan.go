package deletion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// planner plans a deletion, and plans it again.
type planner struct {
	client  *cluster.Client
	catalog *cluster.Catalog
	request Request
	// known is what is known of finalizers and links; nil if nothing is.
	known *finalizer.Registry
	// stays are the objects of the manifests that the request's --unless-in names.
	stays map[selection.Place]bool
	// besides are the uids of objects that the request does not mean and that are deleted before
	// what would take them along: a selector need not match them.
	besides map[string]bool
	// total are the uids of what all plans delete that were agreed to, in all stages.
	total map[string]bool
}

// newPlanner returns a planner whose client sends no dry run for what a guard keeps.
func newPlanner(client *cluster.Client, catalog *cluster.Catalog, request Request) (*planner, error) {
	pl := &planner{client: client, catalog: catalog, request: request, total: map[string]bool{}}
	if request.Known == nil {
		return pl, nil
	}
	var err error
	if pl.known, err = request.Known(); pl.known != nil {
		pl.client = ownership.Guarded(client, cluster.NewReader(client, catalog), pl.known.Links())
	}
	return pl, err
}

// Plan finds the objects that a request means, lists what their deletion can reach, and plans it.
// It writes nothing. Objects that are not there are in the plan's Missing, and joined to the error
// if there is one. It ends with ctx.
func Plan(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog,
	getter genericclioptions.RESTClientGetter, request Request) (*Planned, error) {
	pl, err := newPlanner(client, catalog, request)
	if err != nil {
		return nil, err
	}
	found, err := pl.resolve(ctx, getter)
	if err != nil {
		return nil, err
	}
	p, err := pl.plan(ctx, found.objects)
	if err != nil {
		return nil, errors.Join(append(found.missing, err)...)
	}
	if found.unserved != nil {
		hides, err := pl.mayHide(ctx, p, found.unserved)
		if err != nil {
			return nil, err
		}
		if hides {
			found.missing = append(found.missing, found.unserved)
		}
	}
	p.Missing, p.Unscoped = append(found.missing, p.Missing...), found.unscoped
	return p, nil
}

// plan plans the deletion of some objects. The planning knows no context and may take long.
func (pl *planner) plan(ctx context.Context, objects []selection.Object) (*Planned, error) {
	if len(objects) == 0 {
		return &Planned{planner: pl}, nil
	}
	return interrupt.Do(ctx, func() (*Planned, error) {
		query := &selection.Query{Client: pl.client, Catalog: pl.catalog, Selection: selection.Selection{Objects: objects},
			Namespace: objects[0].Namespace}
		query.Scope = query.ListingScope(false)
		return pl.planObjects(ctx, objects, query)
	})
}

func (pl *planner) planObjects(ctx context.Context, objects []selection.Object, query *selection.Query) (*Planned,
	error) {
	if err := refuseImmortal(objects); err != nil {
		return nil, err
	}
	permissions := askPermissions(ctx, pl.client, objects)
	defer permissions.stop()
	snapshot, err := pl.list(ctx, *query)
	if err != nil {
		return nil, err
	}
	p := &Planned{Snapshot: snapshot, Gaps: snapshot.Gaps, planner: pl, sources: map[string]string{}}
	ids, err := pl.find(ctx, query, objects, p)
	if err != nil {
		return nil, err
	}
	reader := cluster.NewReader(pl.client, pl.catalog)
	left, policies, unknown, err := pl.leave(ctx, reader, snapshot.Graph, ids, p)
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id graph.ID) bool { return left[id] != "" })
	own, err := pl.links(ctx, query.Scope, snapshot.Graph, ids, policies)
	if err != nil {
		return nil, err
	}
	if own.Elsewhere {
		query.Scope = ""
		return pl.planObjects(ctx, objects, query)
	}
	g := own.Graph
	links := own.Links.With(awaits(pl.known, g)...)
	p.links, p.named = links, ids
	snapshot.Graph, p.Gaps = g, slices.Concat(snapshot.Gaps, own.Gaps, unknown)
	opts := pl.request.planOptions(links, snapshot.Gaps)
	opts.Left, opts.Policies, p.left = left, policies, slices.Sorted(maps.Keys(left))
	p.Plan = plan.New(g, ids, pl.request.Policy, opts)
	p.Plan = p.Without(findImmortal(p.Plan))
	held, unread, err := readNamespaces(ctx, pl.client, p.Plan)
	if err != nil {
		return nil, err
	}
	p.Plan = p.Holding(held)
	if err := pl.foresee(ctx, reader, pl.known, p); err != nil {
		return nil, err
	}
	p.Plan = pl.arrange(pl.known, p)
	if err := pl.admission(ctx, reader, p); err != nil {
		return nil, err
	}
	details, err := readDetails(ctx, pl.client, p.Plan)
	if err != nil {
		return nil, err
	}
	details.Unread = append(details.Unread, unread...)
	details.GracePeriodSeconds, details.Propagated = pl.request.GracePeriodSeconds, pl.request.PropagateGracePeriod
	details.Forbidden = permissions.forbidden(ctx, p.Plan, pl.request.writers()...)
	if err := pl.learnMore(ctx, reader, p, &details); err != nil {
		return nil, err
	}
	p.details = details
	p.Learn(details)
	p.Hiding = p.Relevant(snapshot.Gaps)
	return p, nil
}

// links finds what goes with the objects, or manages them, though no ownerReference says so.
func (pl *planner) links(ctx context.Context, scope string, g *graph.Graph, roots []graph.ID,
	policies map[graph.ID]plan.Policy) (*ownership.Ownership, error) {
	return ownership.Find(ctx, pl.client, pl.catalog, ownership.Request{
		Graph: g, Scope: scope, Roots: roots,
		Foreground: func(id graph.ID) bool { return cmp.Or(policies[id], pl.request.Policy) == plan.Foreground },
		Managers:   true, Accounts: true, Definitions: pl.known.Links(),
	})
}

// list lists what the deletion of the objects of a query can reach, with the annotations that say
// what manages an object.
func (pl *planner) list(ctx context.Context, query selection.Query) (*selection.Snapshot, error) {
	selector, err := pl.request.Selection.Selector()
	if err != nil {
		return nil, err
	}
	query.Selector, query.Progress = selector, pl.request.Progress
	query.Annotations = append(ownership.Annotations(pl.known.Links()), protect.Lifts)
	return query.List(ctx)
}

// learnMore finds out which disks are destroyed, and who of those that the deletion waits for, or that
// delete a part of it, does not run.
func (pl *planner) learnMore(ctx context.Context, reader *cluster.Reader, p *Planned, details *plan.Details) error {
	collect.ReadDisks(ctx, reader, p.Plan, &details.Facts)
	details.Unserved, details.Unhooked = p.unserved, p.unhooked.hooks
	err := pl.findDenied(ctx, reader, p.Plan, details)
	if err != nil {
		return err
	}
	if err := findSilentNodes(ctx, pl.client, reader, details); err != nil {
		return err
	}
	if details.Unanswered, err = findUnanswered(ctx, reader, p.Plan); err != nil {
		return err
	}
	details.Unanswered = append(details.Unanswered, p.unhooked.updates...)
	if pl.known != nil {
		if details.Abandoned, err = pl.findAbandoned(ctx, reader, pl.known, p.Plan); err != nil {
			return err
		}
		if err := findIdlePrograms(ctx, reader, pl.known, p.Plan, details); err != nil {
			return err
		}
	}
	if err := pl.findStopped(ctx, reader, p.Plan, details); err != nil {
		return err
	}
	if len(p.Blockers) == 0 {
		return context.Cause(ctx)
	}
	p.Known = pl.known
	stays, tellSpared := spared(reader, p.Known, p.Plan, details)
	awaited, tellAwaited := confirmations(p.Graph, p.Known, blockers(p.Plan), &details.Facts)
	used, tellInUse := inUse(reader, p.Known, p.Plan, details)
	if err := survey(ctx, pl.client, p.Graph, stays, awaited, used); err != nil {
		return err
	}
	tellSpared()
	tellAwaited()
	tellInUse()
	return findIdle(ctx, reader, p.Known, p.Plan, details)
}

// findStopped finds out that the garbage collector or the namespace controller does not run, where it
// is to delete something. Both are of kube-controller-manager.
func (pl *planner) findStopped(ctx context.Context, reader *cluster.Reader, p *plan.Plan,
	details *plan.Details) error {
	collects := pl.request.GC != ClientGC &&
		slices.ContainsFunc(p.Actions, func(a plan.Action) bool { return a.By == plan.ByCollector })
	empties := len(p.DeletedOf("", cluster.Namespaces.Resource)) > 0
	if pl.known == nil || !collects && !empties {
		return nil
	}
	stopped, err := actor.NewFinder(reader, pl.known).Stopped(ctx)
	if collects {
		details.CollectorStopped = stopped
	}
	if empties {
		details.NamespacesStopped = stopped
	}
	return err
}

// ErrNoMatch is why an object is left out that matched the selector when the server was asked
// first.
var ErrNoMatch = errors.New("it no longer matches the selector")

// find finds the objects in the listing. An object that has another uid there than when it was
// resolved, or that no longer matches the selector, is left out. One that is not there at all is
// missing.
func (pl *planner) find(ctx context.Context, query *selection.Query, objects []selection.Object,
	p *Planned) ([]graph.ID, error) {
	g := p.Snapshot.Graph
	matches, err := pl.request.Selection.MatchAgain(ctx, pl.client, g, objects)
	if err != nil {
		return nil, err
	}
	var ids []graph.ID
	var unlisted []selection.Object
	for _, o := range objects {
		id, ok := o.Lookup(g)
		switch {
		case !ok:
			unlisted = append(unlisted, o)
		case !pl.besides[o.UID] && !matches(o, id):
			p.LeftOut = append(p.LeftOut, LeftOut{o.Ref(), ErrNoMatch})
		default:
			ids = append(ids, id)
			if o.Source != "" {
				p.sources[g.Ref(id).UID] = o.Source
			}
		}
	}
	for i, err := range query.ExplainAll(ctx, g, unlisted) {
		switch {
		case errors.Is(err, selection.ErrAnother):
			p.LeftOut = append(p.LeftOut, LeftOut{unlisted[i].Ref(), err})
		case pl.request.IgnoreNotFound && apierrors.IsNotFound(err):
		default:
			p.Missing = append(p.Missing, err)
		}
	}
	return ids, nil
}

// refuseImmortal is an error if one of the objects that were named cannot be deleted.
func refuseImmortal(objects []selection.Object) error {
	for _, o := range objects {
		if cluster.IsImmortal(o.Ref()) {
			return fmt.Errorf(
				"deleting namespace %q: the API server never deletes it; name what is to be deleted in it", o.Ref().Name)
		}
	}
	return nil
}

// findImmortal returns the namespaces of a plan that the server does not let others delete, with why.
func findImmortal(p *plan.Plan) map[graph.ID]string {
	refused := map[graph.ID]string{}
	for _, a := range p.Actions {
		if a.Verb == plan.VerbDelete && cluster.IsImmortal(p.Graph.Ref(a.Object)) {
			refused[a.Object] = "the API server never deletes it"
		}
	}
	return refused
}

// resolved are the objects that a request means.
type resolved struct {
	objects  []selection.Object
	missing  []error
	unscoped bool
	// unserved is the error of kinds that discovery does not show; nil if there is none, or if it
	// is among the missing. It is one of the missing if the listing shows that they may be hidden:
	// otherwise an earlier call has deleted their definitions.
	unserved error
}

// resolve finds out which objects are meant, as kubectl delete does. Objects that a file or a name
// means and that do not exist are found out later, by the listing.
func (pl *planner) resolve(ctx context.Context, getter genericclioptions.RESTClientGetter) (resolved, error) {
	request := pl.request.Selection
	meant, err := request.Objects(ctx, selection.FreshGetter(getter, pl.client), pl.client, pl.catalog)
	if pl.request.IgnoreNotFound && apierrors.IsNotFound(err) {
		err = nil
	}
	r := resolved{objects: meant.Objects}
	pl.stays = meant.Stays
	switch {
	case err == nil:
	case len(request.UnlessIn) > 0 && pl.request.IgnoreNotFound && unserved(err):
		r.unserved = err
	case len(meant.Objects) == 0:
		return resolved{}, selection.SuggestType(err, pl.catalog)
	case pl.request.Ordered && pl.request.IgnoreNotFound && unserved(err):
		r.unserved = err
	default:
		r.missing = append(r.missing, err)
	}
	r.missing = append(r.missing, meant.Wrong...)
	r.unscoped = request.EnforceNamespace && !request.AllNamespaces &&
		slices.ContainsFunc(meant.Objects, func(o selection.Object) bool { return !o.Namespaced })
	return r, nil
}

// unserved reports whether the only thing wrong is that types are not served: an earlier call has
// deleted their definitions.
func unserved(err error) bool {
	var many utilerrors.Aggregate
	if !errors.As(err, &many) {
		return meta.IsNoMatchError(err)
	}
	return !slices.ContainsFunc(many.Errors(), func(err error) bool { return !unserved(err) })
}

// mayHide returns whether objects of kinds that discovery does not show may exist. If nothing was
// found to delete, nothing was listed yet that would tell.
func (pl *planner) mayHide(ctx context.Context, p *Planned, unserved error) (bool, error) {
	if p.Snapshot != nil {
		return p.hides(unserved), nil
	}
	namespace := pl.request.Selection.Namespace
	query := selection.Query{Client: pl.client, Catalog: pl.catalog, Namespace: namespace, Scope: namespace}
	snapshot, err := pl.list(ctx, query)
	if err != nil {
		return false, err
	}
	return (&Planned{Snapshot: snapshot, Gaps: snapshot.Gaps}).hides(unserved), nil
}

// hides returns whether objects of a kind that discovery does not show may exist: the kind was
// found otherwise, or something that would tell of it could not be seen.
func (p *Planned) hides(unserved error) bool {
	if many, ok := errors.AsType[utilerrors.Aggregate](unserved); ok {
		return slices.ContainsFunc(many.Errors(), p.hides)
	}
	var kind *meta.NoKindMatchError
	if !errors.As(unserved, &kind) {
		return true
	}
	tells := []string{kind.GroupKind.Group, cluster.CRDs.Group, cluster.APIServices.Group}
	return slices.ContainsFunc(p.Gaps, func(g v1alpha1.Gap) bool { return !g.Links && slices.Contains(tells, g.Group) }) ||
		slices.ContainsFunc(p.Snapshot.Graph.Types(),
			func(t graph.Type) bool { return t.Group == kind.GroupKind.Group && t.Kind == kind.GroupKind.Kind })
}
