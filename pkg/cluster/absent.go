package cluster

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// IsAbsent says whether an error of Get proves that the object does not exist: a Status with the
// reason NotFound that names the object. A 404 that names nothing comes from a path that is not
// served, a proxy, or a server that has just started, and proves nothing (API-054, T-01).
func IsAbsent(err error, t graph.Type, name string) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name == name && details.Group == t.Group && details.Kind == t.Resource
}

// undefined says whether the server did not find a type because its CRD is gone, so that nothing of
// the type is there: it is proven that the CRD does not exist, and that no other server is asked.
func (c *Client) undefined(ctx context.Context, cat *Catalog, t graph.Type, err error) bool {
	_, defined := cat.Lookup(CRDs)
	services, aggregated := cat.Lookup(APIServices)
	if !apierrors.IsNotFound(err) || !defined || !aggregated || BuiltIn(t.Group) {
		return false
	}
	name := t.Version + "." + t.Group
	service, err := c.GetObject(ctx, services.Type, "", name)
	if err == nil {
		if _, elsewhere, err := unstructured.NestedMap(service.Object, "spec", "service"); elsewhere || err != nil {
			return false
		}
	} else if !IsAbsent(err, services.Type, name) {
		return false
	}
	return c.IsUndefined(ctx, t)
}
