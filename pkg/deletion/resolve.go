package deletion

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// resolved are the objects that a request means.
type resolved struct {
	objects  []selection.Object
	missing  []error
	unscoped bool
}

// resolve finds out which objects are meant, as kubectl delete does. Objects that a file or a name means and that do not
// exist are found out later, by the listing.
func (pl *planner) resolve(ctx context.Context, getter genericclioptions.RESTClientGetter) (resolved, error) {
	request := pl.request.Selection
	objects, nameless, err := request.Objects(ctx, selection.FreshGetter(getter, pl.client), pl.client, pl.catalog)
	if pl.request.IgnoreNotFound && apierrors.IsNotFound(err) {
		err = nil
	}
	if err != nil && len(objects) == 0 {
		return resolved{}, selection.SuggestType(err, pl.catalog)
	}
	r := resolved{objects: objects}
	if err != nil && !(pl.request.Ordered && pl.request.IgnoreNotFound && unserved(err)) {
		r.missing = append(r.missing, err)
	}
	r.missing = append(r.missing, nameless...)
	r.unscoped = request.EnforceNamespace && !request.AllNamespaces && slices.ContainsFunc(objects, func(o selection.Object) bool { return !o.Namespaced })
	return r, nil
}

// unserved says whether the only thing wrong is that types are not served: an earlier call has deleted their definitions.
func unserved(err error) bool {
	var many utilerrors.Aggregate
	if !errors.As(err, &many) {
		return meta.IsNoMatchError(err)
	}
	return !slices.ContainsFunc(many.Errors(), func(err error) bool { return !unserved(err) })
}
