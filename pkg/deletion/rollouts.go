package deletion

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// readRollouts finds out which of the ReplicaSets that a plan deletes are made again by Deployments
// that stay. What cannot be read is left out.
func readRollouts(ctx context.Context, client *cluster.Client, p *plan.Plan) (map[graph.ID]bool, error) {
	owners := p.RolledBy()
	if len(owners) > mostRead {
		return nil, nil
	}
	ids := slices.Concat(slices.Collect(maps.Keys(owners)), slices.Collect(maps.Values(owners)))
	slices.Sort(ids)
	q := newAnswers(slices.Compact(ids), func(_ context.Context, _ graph.ID,
		o *unstructured.Unstructured) *unstructured.Unstructured {
		return o
	})
	err := survey(ctx, client, p.Graph, q)
	made := map[graph.ID]bool{}
	for id, owner := range owners {
		if again, known := madeAgain(q.by[owner], q.by[id]); known {
			made[id] = again
		}
	}
	return made, err
}

// madeAgain reports whether a Deployment makes a ReplicaSet again: the one of its template, and none
// while it is paused (getNewReplicaSet of pkg/controller/deployment/sync.go). The revisions in
// annotations follow the template only later. After a collision of hashes the ReplicaSet may get
// another name.
func madeAgain(deployment, set *unstructured.Unstructured) (again, known bool) {
	if deployment == nil || set == nil {
		return false, false
	}
	if paused, _, _ := unstructured.NestedBool(deployment.Object, "spec", "paused"); paused {
		return false, true
	}
	collisions, _, _ := unstructured.NestedInt64(deployment.Object, "status", "collisionCount")
	again = reflect.DeepEqual(templateOf(deployment), templateOf(set))
	return again, !again || collisions == 0
}

// templateOf is the template of the pods, without the label that a Deployment adds for a ReplicaSet.
func templateOf(o *unstructured.Unstructured) map[string]any {
	template, _, _ := unstructured.NestedMap(o.Object, "spec", "template") // a copy
	unstructured.RemoveNestedField(template, "metadata", "labels", "pod-template-hash")
	return template
}
