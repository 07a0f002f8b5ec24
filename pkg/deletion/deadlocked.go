package deletion

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Deadlocked is an object that is being deleted and will never be gone: nobody waits for it, or the wait would have no end.
type Deadlocked struct {
	plan.ObjectReason
	// Graph is the one that the reason is about.
	Graph *graph.Graph
}

// deadlocked returns what the plans said would never be gone and what is indeed still there.
func deadlocked(ctx context.Context, client *cluster.Client, plans []*Planned) []Deadlocked {
	var left []Deadlocked
	for _, p := range plans {
		for _, s := range p.Deadlocked {
			ref := p.Graph.Ref(s.Object)
			t, _ := p.Graph.Type(s.Object)
			now, err := client.GetMeta(ctx, t, ref.Namespace, ref.Name)
			if cluster.IsAbsent(err, t, ref.Name) || err == nil && now.UID != ref.UID {
				continue
			}
			left = append(left, Deadlocked{s, p.Graph})
		}
	}
	return left
}

// deadlockedError is the finding that there is something like that.
func (w Words) deadlockedError(left []Deadlocked) error {
	if len(left) == 0 {
		return nil
	}
	objects := make([]graph.Ref, len(left))
	for i, l := range left {
		objects[i] = l.Graph.Ref(l.Object)
	}
	because := ""
	if w.Because != nil {
		because = " (" + w.Because(left[0].Graph, left[0].ObjectReason) + ")"
	}
	return answer.Refuse(answer.WithHint(errors.New("the deletion cannot complete: "+firstFew(objects)+because),
		"kubectl gc run --break-deadlocks sets blockOwnerDeletion to false on a reference of a cycle; kubectl gc tree shows which objects wait for each other"))
}
