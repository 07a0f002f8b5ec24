package diagnose

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Called returns the webhooks that the server may have called for dry runs, which labels and
// conditions can have left out, and what could not be listed.
func Called(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog) (webhooks, unread []string) {
	registry := cluster.NewReader(client, catalog).Admission()
	hooks, unread := registry.Webhooks(ctx)
	sent := client.DryRuns()
	for _, h := range hooks {
		if slices.ContainsFunc(sent, func(d cluster.DryRun) bool {
			w := admission.Of(admissionv1.OperationType(d.Operation), d.Type, d.Namespace, "")
			return registry.Calls(ctx, h, w) != admission.Never
		}) {
			webhooks = append(webhooks, h.String())
		}
	}
	return webhooks, unread
}
