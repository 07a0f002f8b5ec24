package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
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
	objects, nameless, err := request.Objects(ctx, selection.FreshGetter(getter, pl.client), pl.client, pl.catalog)
	if pl.request.IgnoreNotFound && apierrors.IsNotFound(err) {
		err = nil
	}
	r := resolved{objects: objects}
	switch {
	case err == nil:
	case len(request.UnlessIn) > 0 && pl.request.IgnoreNotFound && unserved(err):
		r.unserved = err
	case len(objects) == 0:
		return resolved{}, selection.SuggestType(err, pl.catalog)
	case pl.request.Ordered && pl.request.IgnoreNotFound && unserved(err):
		r.unserved = err
	default:
		r.missing = append(r.missing, err)
	}
	r.missing = append(r.missing, nameless...)
	r.unscoped = request.EnforceNamespace && !request.AllNamespaces &&
		slices.ContainsFunc(objects, func(o selection.Object) bool { return !o.Namespaced })
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

// leave returns those of the objects that the request's pruner leaves, and why, by live reads of their
// metadata and of what they were applied for. What could not be read counts as pruned, and is a gap.
func (pl *planner) leave(ctx context.Context, reader *cluster.Reader, g *graph.Graph,
	ids []graph.ID) (map[graph.ID]string, []v1alpha1.Gap, error) {
	by := pl.request.Pruner
	if by == nil {
		return nil, nil, nil
	}
	whys, errs := make([]string, len(ids)), make([]error, len(ids))
	cluster.Each(pl.client, ids, func(i int, id graph.ID) {
		whys[i], errs[i] = pl.leaves(ctx, reader, g, id)
	})
	left := map[graph.ID]string{}
	var gaps []v1alpha1.Gap
	for i, id := range ids {
		if whys[i] != "" {
			left[id] = whys[i]
		}
		if errs[i] == nil {
			continue
		}
		t, _ := g.Type(id)
		ref := g.Ref(id)
		gap, is := cluster.GapOf(ctx, t, ref.Namespace, errs[i])
		if !is {
			gap = v1alpha1.Gap{Resource: t.Resource, Group: t.Group, Namespace: ref.Namespace, Reason: v1alpha1.GapFailed,
				Message: errs[i].Error()}
		}
		gap.Links, gap.Message = true, fmt.Sprintf("whether %s prunes %s: %s", by.By, ref.KindName(), gap.Message)
		gaps = append(gaps, gap)
	}
	return left, gaps, context.Cause(ctx)
}

// leaves says why the pruner leaves an object; empty if it prunes it.
func (pl *planner) leaves(ctx context.Context, reader *cluster.Reader, g *graph.Graph, id graph.ID) (string, error) {
	by, ref := pl.request.Pruner, g.Ref(id)
	t, _ := g.Type(id)
	o, err := pl.client.GetObjectMeta(ctx, t, ref.Namespace, ref.Name)
	switch {
	case cluster.IsAbsent(err, t, ref.Name):
		return "", nil // the delete of it will tell
	case err != nil:
		return "", err
	case string(o.GetUID()) != ref.UID:
		return "", nil // another has its name by now, and says nothing of it
	}
	if why, leaves := by.Leaves(t.Group, t.Kind, o.Object); leaves {
		return why, nil
	}
	parents, err := by.ParentsOf(o.Object)
	if err != nil {
		return "", err
	}
	for _, n := range parents {
		name := n.Kind + "/" + n.Name
		of, served := reader.KindIn(n.Group, n.Kind)
		if !served {
			return "", fmt.Errorf("discovery does not show the type of %s", name)
		}
		resource := schema.GroupResource{Group: of.Group, Resource: of.Resource}
		parent, err := reader.GetObject(ctx, resource, n.Namespace, n.Name)
		switch {
		case err != nil:
			return "", err
		case parent == nil:
			return fmt.Sprintf("%s does not prune it: %s in namespace %s does not exist", by.By, name, n.Namespace), nil
		}
		if because, met := link.AnyMet(by.Never, parent.Object); met {
			return fmt.Sprintf("%s does not prune it: %s of %s", by.By, because, name), nil
		}
	}
	return "", nil
}
