package act

import (
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// objectOf is the object of an action on a server.
func objectOf(client *cluster.Client, g *graph.Graph, a plan.Action) change.Object {
	t, _ := g.Type(a.Object)
	return change.Object{Server: client, Type: t, Ref: g.Ref(a.Object)}
}

// naming names the object in an error that does not: a webhook's refusal, or an answer of something
// that is no API server.
func naming(ref graph.Ref, err error) error {
	var status apierrors.APIStatus
	var connection *url.Error
	switch {
	case errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == ref.Name,
		errors.As(err, &connection):
		return err
	}
	return fmt.Errorf("%s %q: %w", ref.Resource, ref.Name, err)
}
