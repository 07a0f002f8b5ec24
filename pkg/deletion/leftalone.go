package deletion

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// leftAlone are the dependents of what was deleted that are not in the plan and still there, as far
// as that can be found out.
func (c *clientGC) leftAlone(ctx context.Context) []graph.Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []graph.Ref
	for uid, l := range c.left {
		now, err := c.planner.client.GetMeta(ctx, l.t, l.Namespace, l.Name)
		if cluster.IsAbsent(err, l.t, l.Name) || err == nil &&
			(now.UID != uid || !slices.ContainsFunc(now.Owners, func(r graph.OwnerReference) bool { return c.cascade[r.UID] })) {
			continue
		}
		left = append(left, l.Ref)
	}
	slices.SortFunc(left, func(a, b graph.Ref) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return left
}

// leftAloneError is the finding that there are some.
func (c *clientGC) leftAloneError(left []graph.Ref) error {
	if len(left) == 0 {
		return nil
	}
	where := "plan"
	if c.saved != nil {
		where = "plan and the archive"
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("dependents that are not in the %s were not deleted: %s", where,
		firstFew(left)),
		"their owners are deleted: delete them by name, or collect them with kubectl gc run"))
}
