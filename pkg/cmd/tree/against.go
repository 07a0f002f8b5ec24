package tree

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/compare"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// compare says what is otherwise now than it was in what --against names, or the other way round if
// that is of a later time.
func (o *Options) compare(ctx context.Context) error {
	namespace, err := o.Namespace()
	if err != nil {
		return err
	}
	against, err := o.Other(ctx, "against", o.Against, namespace)
	if err != nil {
		return err
	}
	now, err := o.listed(ctx, o.Env)
	if err != nil {
		return err
	}
	then, err := o.listed(ctx, against)
	if err != nil {
		return err
	}
	if now.missing != nil && then.missing != nil { // a namespace that is there at neither time is mistyped
		return now.missing
	}
	if then.at.At.After(now.at.At.Time) {
		then, now = now, then
	}
	if then.at.Cluster != now.at.Cluster && then.at.Cluster != "" && now.at.Cluster != "" {
		fmt.Fprintln(o.ErrOut, render.Escape("Warning: "+then.at.Source+" and "+now.at.Source+" are of two clusters, which have no object in common"))
	}
	if o.Objects.AllNamespaces {
		namespace = ""
	}
	c := compare.Listings(then.Side, now.Side, namespace)
	c.Before, c.After = then.at, now.at
	render.WarnGaps(o.ErrOut, c.Gaps)
	return o.Print(ctx, func() error {
		if o.Output.IsOwn() {
			return render.Comparison(o.Out, c, o.Style(o.Output))
		}
		return o.Output.Write(o.Out, c)
	})
}

// side is a listing, and what it is of.
type side struct {
	compare.Side
	at v1alpha1.Moment
	// missing is the error that the namespace does not exist.
	missing error
}

// listed lists what is in scope of a cluster, or of a dump.
func (o *Options) listed(ctx context.Context, e *env.Env) (side, error) {
	q, err := e.Query(ctx, &o.Objects, nil)
	if err != nil {
		return side{}, err
	}
	s, err := q.List(ctx)
	if err != nil {
		return side{}, err
	}
	whose, err := q.Client.Identity(ctx)
	if err != nil {
		return side{}, err
	}
	_, server := e.Cluster()
	return side{
		Side: compare.Side{Graph: s.Graph, Gaps: s.Gaps,
			Serves: func(of schema.GroupResource) bool { _, ok := q.Catalog.Lookup(of); return ok }, Omits: q.Catalog.Omits},
		at:      v1alpha1.Moment{Source: server, At: metav1.Time{Time: q.Client.Now().UTC()}, Cluster: whose},
		missing: selection.NamespaceExists(ctx, q.Client, q.Catalog, s.Graph, q.Scope),
	}, nil
}
