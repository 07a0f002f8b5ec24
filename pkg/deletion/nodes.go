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
const fewNodes = 16

// findSilentNodes finds out which pods of a plan are on nodes whose kubelet is not heard from. Where
// nodes may not be read nothing is said. Pods of a node that does not exist go by themselves. The
// error is the end of ctx.
func findSilentNodes(ctx context.Context, reader *cluster.Reader, details *plan.Details) error {
	pods := map[string][]graph.ID{}
	for id, pod := range details.Pods {
		if pod.Node != "" && !pod.Ended {
			pods[pod.Node] = append(pods[pod.Node], id)
		}
	}
	var nodes []*unstructured.Unstructured
	if len(pods) > fewNodes {
		nodes, _ = reader.ListObjects(ctx, cluster.Nodes, "", cluster.Selection{})
	} else {
		for name := range pods {
			if o, err := reader.GetObject(ctx, cluster.Nodes, "", name); err == nil && o != nil {
				nodes = append(nodes, o)
			}
		}
	}
	silent := map[string]plan.SilentNode{}
	for _, o := range nodes {
		if on := pods[o.GetName()]; len(on) > 0 && actor.Silent(o) {
			says, _ := actor.ReadNode(o, reader.Now())
			slices.Sort(on)
			silent[o.GetName()] = plan.SilentNode{Name: o.GetName(), Because: says, Pods: on}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(silent)) {
		details.SilentNodes = append(details.SilentNodes, silent[name])
	}
	return context.Cause(ctx)
}
