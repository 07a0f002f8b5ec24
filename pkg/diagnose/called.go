package diagnose

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Called returns the webhooks that the server may have called for dry runs, which labels and conditions
// can have left out, and what could not be listed.
func Called(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) (webhooks, unread []string) {
	e := &examiner{reader: cluster.NewReader(client, catalog)}
	hooks, unread := e.hooks(ctx)
	sent := client.DryRuns()
	for _, h := range hooks {
		h.ObjectSelector = nil // nobody noted the labels
		if slices.ContainsFunc(sent, func(d cluster.DryRun) bool {
			h := h
			if isNamespace(d.Type) {
				h.NamespaceSelector = nil
			}
			w := write{operation: admissionv1.OperationType(d.Operation), t: d.Type, o: &unstructured.Unstructured{Object: map[string]any{}}}
			w.o.SetNamespace(d.Namespace)
			return e.calls(ctx, h, w)
		}) {
			webhooks = append(webhooks, h.what())
		}
	}
	return webhooks, unread
}
