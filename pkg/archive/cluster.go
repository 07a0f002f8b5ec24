package archive

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// namespaces are a type that each cluster has.
var namespaces = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}

// clusterOf returns the uid of the namespace kube-system, by which a cluster is known from others: it is made once and cannot be deleted. It is empty if it cannot
// be read. The error is that ctx has ended.
func clusterOf(ctx context.Context, client *cluster.Client) (string, error) {
	system, err := client.GetMeta(ctx, namespaces, "", "kube-system")
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", nil
	}
	return system.UID, nil
}
