package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// endless returns what the plans said would never be gone and what is indeed still there: nobody waits for it, or the wait would have no end.
func endless(ctx context.Context, client *cluster.Client, plans []*plannedDeletion) []v1alpha1.SkippedObject {
	var left []v1alpha1.SkippedObject
	for _, p := range plans {
		for _, s := range p.Stuck {
			ref := p.Graph.Ref(s.Object)
			t, _ := p.Graph.Type(s.Object)
			now, err := client.Get(ctx, t, ref.Namespace, ref.Name)
			if cluster.IsAbsent(err, t, ref.Name) || err == nil && now.UID != ref.UID {
				continue
			}
			left = append(left, v1alpha1.SkippedObject{Object: render.RefObject(ref), Because: render.SurvivorSentence(p.Graph, s)})
		}
	}
	return left
}

// endlessError is the finding that there is something like that.
func endlessError(left []v1alpha1.SkippedObject) error {
	if len(left) == 0 {
		return nil
	}
	var names []string
	for _, l := range left {
		names = append(names, l.Object.Kind+"/"+l.Object.Name)
	}
	first := left[0]
	return refusal{withHint(errors.New("deleted, and never gone: "+enumerate(names)+fmt.Sprintf(" (%s)", first.Because)),
		"kubectl gc run --break-deadlocks unblocks a reference of a cycle; kubectl gc tree shows what waits for what")}
}
