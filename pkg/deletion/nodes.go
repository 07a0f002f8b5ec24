package deletion

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// fewNodes is how many nodes are read one by one; of more all are listed.
const fewNodes = 100

// findSilentNodes finds out which pods of a plan are on nodes whose kubelet is not heard from. Where
// nodes may not be read nothing is said. Pods of a node that does not exist go by themselves. The
// error is the end of ctx.
func findSilentNodes(ctx context.Context, client *cluster.Client, reader *cluster.Reader, details *plan.Details) error {
	pods := map[string][]graph.ID{}
	for id, pod := range details.Pods {
		if pod.Node != "" && !pod.Ended {
			pods[pod.Node] = append(pods[pod.Node], id)
		}
	}
	names := slices.Sorted(maps.Keys(pods))
	nodes := make([]*unstructured.Unstructured, len(names))
	if len(names) > fewNodes {
		all, _ := reader.ListObjects(ctx, cluster.Nodes, "", cluster.Selection{})
		for _, o := range all {
			if i, has := slices.BinarySearch(names, o.GetName()); has {
				nodes[i] = o
			}
		}
	} else {
		cluster.Each(client, names, func(i int, name string) {
			nodes[i], _ = reader.GetObject(ctx, cluster.Nodes, "", name)
		})
	}
	for i, o := range nodes {
		if o != nil && actor.Silent(o) {
			says, _ := actor.ReadNode(o, reader.Now())
			slices.Sort(pods[names[i]])
			details.SilentNodes = append(details.SilentNodes,
				plan.SilentNode{Name: names[i], Because: says, Pods: pods[names[i]]})
		}
	}
	return context.Cause(ctx)
}
