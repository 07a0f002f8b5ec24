package actor

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Backend is what stands behind a Service that the API server calls.
type Backend struct {
	Namespace, Name string
	// Down says that nothing can answer, and Why what is missing. Why without Down is that it could
	// not be found out.
	Down bool
	Why  string
}

// BackendOf looks whether a Service has an endpoint that is ready.
func BackendOf(ctx context.Context, r *cluster.Reader, namespace, name string) Backend {
	b := Backend{Namespace: namespace, Name: name}
	service, err := r.GetObject(ctx, cluster.Services, namespace, name)
	switch {
	case err != nil:
		b.Why = fmt.Sprintf("Service %s/%s cannot be read: %v", namespace, name, err)
		return b
	case service == nil:
		b.Down, b.Why = true, fmt.Sprintf("Service %s/%s does not exist", namespace, name)
		return b
	}
	if kind, _, _ := unstructured.NestedString(service.Object, "spec", "type"); kind == "ExternalName" {
		b.Why = fmt.Sprintf("Service %s/%s is a name outside the cluster", namespace, name)
		return b
	}
	slices, err := r.ListObjects(ctx, cluster.EndpointSlices, namespace,
		cluster.Selection{Labels: "kubernetes.io/service-name=" + name})
	if err != nil {
		b.Why = fmt.Sprintf("the endpoints of Service %s/%s cannot be listed: %v", namespace, name, err)
		return b
	}
	for _, slice := range slices {
		if answers(slice) {
			return b
		}
	}
	b.Down, b.Why = true, fmt.Sprintf("Service %s/%s has no ready endpoints", namespace, name)
	return b
}

// answers says whether an EndpointSlice has an endpoint that takes connections; one whose condition
// is not set does.
func answers(slice *unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(slice.Object, "endpoints")
	for _, item := range list {
		m, _ := item.(map[string]any)
		state, said, _ := unstructured.NestedBool(m, "conditions", "ready")
		addresses, _, _ := unstructured.NestedStringSlice(m, "addresses")
		if len(addresses) > 0 && (!said || state) {
			return true
		}
	}
	return false
}
