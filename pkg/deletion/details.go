package deletion

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostRead is how many pods, and how many StatefulSets, of a cascade are read. Of more than these
// it is said that they were not.
const mostRead = 2000

// readDetails reads what a plan cannot tell from metadata: how long the pods of the cascade may
// take to terminate, and what the StatefulSets do with their claims.
func readDetails(ctx context.Context, client *cluster.Client, p *plan.Plan) (plan.Details, error) {
	f := plan.Details{Pods: map[graph.ID]plan.Pod{}, StatefulSets: map[graph.ID]plan.StatefulSet{}}
	pods, tooMany := upTo(mostRead, p.DeletedOf("", "pods"))
	sets, tooManySets := upTo(mostRead, p.DeletedOf("apps", "statefulsets"))
	f.Unread = slices.Concat(tooMany, tooManySets)
	f.TooMany = slices.Clone(f.Unread)
	contents, unread, err := client.SpecFields(ctx, contentRequests(p.Graph, slices.Concat(pods, sets)))
	if err != nil {
		return f, err
	}
	for _, uid := range unread {
		if id, ok := p.Graph.Lookup(uid); ok {
			f.Unread = append(f.Unread, id)
		}
	}
	for _, id := range pods {
		if c, ok := contents[p.Graph.Ref(id).UID]; ok {
			f.Pods[id] = podOf(c)
		}
	}
	for _, id := range sets {
		if c, ok := contents[p.Graph.Ref(id).UID]; ok {
			f.StatefulSets[id] = plan.StatefulSet{Templates: c.VolumeClaimTemplates, DeletesPVCs: c.WhenDeleted == "Delete"}
		}
	}
	return f, nil
}

// upTo returns all of the objects to be read, or none and all to be left unread if they are more
// than most.
func upTo(most int, ids []graph.ID) (read, unread []graph.ID) {
	if len(ids) > most {
		return nil, ids
	}
	return ids, nil
}

func podOf(c cluster.SpecFields) plan.Pod {
	pod := plan.Pod{OnNode: c.NodeName != "", Ended: c.Phase == "Succeeded" || c.Phase == "Failed"}
	switch {
	case c.DeletionGracePeriodSeconds != nil:
		pod.GracePeriodSeconds = *c.DeletionGracePeriodSeconds
	case c.TerminationGracePeriodSeconds != nil:
		pod.GracePeriodSeconds = *c.TerminationGracePeriodSeconds
	}
	return pod
}

// contentRequests groups objects by type and namespace.
func contentRequests(g *graph.Graph, ids []graph.ID) []cluster.SpecFieldsRequest {
	if len(ids) == 0 {
		return nil
	}
	type key struct {
		t         graph.Type
		namespace string
	}
	at := map[key]int{}
	var requests []cluster.SpecFieldsRequest
	for _, id := range ids {
		t, _ := g.Type(id)
		ref := g.Ref(id)
		i, known := at[key{t, ref.Namespace}]
		if !known {
			i = len(requests)
			at[key{t, ref.Namespace}] = i
			requests = append(requests, cluster.SpecFieldsRequest{Type: t, Namespace: ref.Namespace, UIDs: map[string]string{}})
		}
		requests[i].UIDs[ref.Name] = ref.UID
	}
	for i := range g.Len() {
		id := graph.ID(i)
		if t, ok := g.Type(id); ok && g.Observed(id) {
			if r, wanted := at[key{t, g.Namespace(id)}]; wanted {
				requests[r].Total++
			}
		}
	}
	return requests
}
