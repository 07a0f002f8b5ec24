package tree

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
)

// compare says what has changed since the time of what --against names, or until then if that is
// later.
func (o *Options) compare(ctx context.Context) error {
	namespace, err := o.Namespace()
	if err != nil {
		return err
	}
	against, err := o.Other(ctx, "against", o.Against, namespace)
	if err != nil {
		return err
	}
	now, missingNow, err := o.listed(ctx, o.Env)
	if err != nil {
		return err
	}
	then, missingThen, err := o.listed(ctx, against)
	if err != nil {
		return err
	}
	if missingNow != nil && missingThen != nil { // a namespace that is there at neither time is mistyped
		return missingNow
	}
	if !o.TimeIsKnown() || !against.TimeIsKnown() {
		render.WarnOrder(o.ErrOut, then.Moment, now.Moment)
	} else if then.At.After(now.At.Time) {
		then, now = now, then
	}
	if o.Objects.AllNamespaces {
		namespace = ""
	}
	c := tree.Compare(then, now, namespace)
	render.WarnComparison(o.ErrOut, c)
	return o.Print(ctx, func() error {
		if o.Output.IsOwn() {
			return render.Comparison(o.Out, c, o.Style(o.Output))
		}
		return o.Output.Write(o.Out, c)
	})
}

// listed lists what is in scope of a cluster, or of a dump. Missing is the error that the namespace
// does not exist.
func (o *Options) listed(ctx context.Context, e *env.Env) (side tree.Side, missing, err error) {
	q, err := e.Query(ctx, &o.Objects, nil)
	if err != nil {
		return side, nil, err
	}
	s, err := q.List(ctx)
	if err != nil {
		return side, nil, err
	}
	whose, err := q.Client.Identity(ctx)
	if err != nil {
		return side, nil, err
	}
	_, server := e.Cluster()
	side = tree.Side{Graph: s.Graph, Gaps: s.Gaps, Omits: q.Catalog.Omits,
		Serves: func(of schema.GroupResource) bool {
			t, ok := q.Catalog.Lookup(of)
			return ok && t.Deletable()
		},
		Moment: v1alpha1.Moment{Source: server, At: metav1.Time{Time: q.Client.Now().UTC()}, Cluster: whose}}
	return side, selection.NamespaceExists(ctx, q.Client, q.Catalog, s.Graph, q.Scope), nil
}
