package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// reasonOf says what kind of gap an error of a list makes. It is false for an error that is no
// property of the type but would meet every request: bad credentials, a server that cannot be
// reached, a cancelled context.
func reasonOf(ctx context.Context, err error) (v1alpha1.GapReason, bool) {
	var status apierrors.APIStatus
	var dial *net.OpError
	var urlErr *url.Error
	switch {
	case ctx.Err() != nil, apierrors.IsUnauthorized(err):
		return "", false
	case apierrors.IsForbidden(err):
		return v1alpha1.GapForbidden, true
	case IsNotSaved(err):
		return v1alpha1.GapNotSaved, true
	case apierrors.IsResourceExpired(err), apierrors.IsTooManyRequests(err):
		return v1alpha1.GapUnavailable, true
	case errors.As(err, &status):
		if status.Status().Code >= http.StatusInternalServerError {
			return v1alpha1.GapUnavailable, true
		}
		return v1alpha1.GapFailed, true
	case isSilent(err), errors.As(err, &urlErr) && urlErr.Timeout():
		return v1alpha1.GapUnavailable, true
	case errors.As(err, &dial) && dial.Op == "dial":
		return "", false
	case errors.As(err, &urlErr), errors.Is(err, errTruncated), errors.Is(err, errInterrupted),
		errors.Is(err, errUnanswered):
		return v1alpha1.GapUnavailable, true
	}
	return v1alpha1.GapFailed, true
}

// IsNotSaved returns whether an answer is that of a dump, which does not know what a cluster would.
func IsNotSaved(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReason(v1alpha1.GapNotSaved)
}

// GapOf returns the gap that an error of a read makes, of a type in a namespace. It is false for an
// error that would meet every request, such as a context that ended.
func GapOf(ctx context.Context, t graph.Type, namespace string, err error) (v1alpha1.Gap, bool) {
	gap, fatal := newGap(ctx, t, namespace, err)
	return gap, fatal == nil
}

// newGap returns the gap that an error makes, or an error that ends the listing.
func newGap(ctx context.Context, t graph.Type, namespace string, err error) (v1alpha1.Gap, error) {
	reason, ok := reasonOf(ctx, err)
	if !ok {
		if ctx.Err() != nil {
			return v1alpha1.Gap{}, context.Cause(ctx)
		}
		return v1alpha1.Gap{}, err
	}
	return v1alpha1.Gap{Resource: t.Resource, Group: t.Group, Namespace: namespace, Reason: reason,
		Message: message(err)}, nil
}

// message is the error without the address, which every gap would repeat. That a dump does not have a
// type has the same reason in each namespace.
func message(err error) string {
	if unread, ok := errors.AsType[*UnreadError](err); ok && unread.Name == "" && IsNotSaved(err) {
		err = unread.Err
	}
	if silent, ok := errors.AsType[*silentError](err); ok {
		return silent.Error()
	}
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		if urlErr.Timeout() {
			return "no answer within the request timeout"
		}
		return fmt.Sprintf("the connection broke: %v", urlErr.Err)
	}
	return err.Error() + unreadable(err)
}

// unreadable adds which objects the server could not read from its storage, which the message alone
// does not say (API-046).
func unreadable(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonStoreReadError ||
		status.Status().Details == nil {
		return ""
	}
	s := ""
	for _, c := range status.Status().Details.Causes {
		if c.Field != "" {
			s += fmt.Sprintf("; %s: %s", c.Field, c.Message)
		}
	}
	return s
}

// IsAbsent reports whether an error of Get proves that the object does not exist: a Status with the
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

// undefined reports whether the server did not find a type because its CRD is gone, so that nothing
// of the type is there: it is proven that the CRD does not exist, and that no other server is
// asked.
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

// DefinitionOf returns the object of a graph that is the CustomResourceDefinition of a type; false
// if none was listed.
func DefinitionOf(g *graph.Graph, t graph.Type) (graph.ID, bool) {
	return g.Find(CRDs.Group, CRDs.Resource, "", t.Resource+"."+t.Group)
}

// IsUndefined reads the CustomResourceDefinition of a type live, and reports whether it is proven
// to be absent. Its own finalizer keeps a definition until all of its objects are gone
// (apiextensions-apiserver, pkg/controller/finalizer), after which nothing that is read of the type
// proves that: its paths are not served any more, and a 404 of such a path says nothing (API-054).
// Of a type of which no definition was seen before, as one of an aggregated API, it says nothing.
func (c *Client) IsUndefined(ctx context.Context, t graph.Type) bool {
	name := t.Resource + "." + t.Group
	definitions := graph.Type{Group: CRDs.Group, Version: "v1", Resource: CRDs.Resource, Kind: "CustomResourceDefinition"}
	_, err := c.GetMeta(ctx, definitions, "", name)
	return IsAbsent(err, definitions, name)
}

// The types of Kubernetes that are read to find out who works on an object and what stands in the
// way.
var (
	APIServices         = schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}
	CRDs                = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	ClusterRoleBindings = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}
	ClusterRoles        = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}
	DaemonSets          = schema.GroupResource{Group: "apps", Resource: "daemonsets"}
	Deployments         = schema.GroupResource{Group: "apps", Resource: "deployments"}
	EndpointSlices      = schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}
	Events              = schema.GroupResource{Resource: "events"}
	Leases              = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	Namespaces          = schema.GroupResource{Resource: "namespaces"}
	Nodes               = schema.GroupResource{Resource: "nodes"}
	PVCs                = schema.GroupResource{Resource: "persistentvolumeclaims"}
	PersistentVolumes   = schema.GroupResource{Resource: "persistentvolumes"}
	Pods                = schema.GroupResource{Resource: "pods"}
	ReplicaSets         = schema.GroupResource{Group: "apps", Resource: "replicasets"}
	RoleBindings        = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}
	Roles               = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}
	ServiceAccounts     = schema.GroupResource{Resource: "serviceaccounts"}
	Services            = schema.GroupResource{Resource: "services"}
	StatefulSets        = schema.GroupResource{Group: "apps", Resource: "statefulsets"}
	VolumeAttachments   = schema.GroupResource{Group: "storage.k8s.io", Resource: "volumeattachments"}
)
