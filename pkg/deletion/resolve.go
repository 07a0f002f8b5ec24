package deletion

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

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

// unserved says whether the only thing wrong is that types are not served: an earlier call has
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
