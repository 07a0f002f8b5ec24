package ownerref

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// maxAbove bounds how many owners are read on the way up.
const maxAbove = 1000

// upwards reads live what owns the new owner, and what owns that. It returns the way from the owner
// up to the object, nil if there is none; unread says in a sentence which owner could not be read,
// so that a cycle cannot be ruled out.
func (a *Adoption) upwards(ctx context.Context, p Pair) (way []graph.OwnerReference, unread string, err error) {
	type node struct {
		namespace string
		owners    []graph.OwnerReference
		way       []graph.OwnerReference
	}
	queue := []node{{p.Owner.Namespace, p.Owner.Owners, nil}}
	seen := map[string]bool{p.Owner.UID: true}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, r := range next.owners {
			if seen[r.UID] {
				continue
			}
			if len(seen) > maxAbove {
				return nil, fmt.Sprintf("more than %d objects own %s: whether one of them is owned by the object was not found out",
					maxAbove, a.ownerRef.TypeName()), nil
			}
			seen[r.UID] = true
			here := append(append([]graph.OwnerReference{}, next.way...), r)
			o := ReadOwner(ctx, a.client, a.catalog, next.namespace, r)
			switch {
			case ctx.Err() != nil:
				return nil, "", context.Cause(ctx)
			case r.UID == a.Object.UID && o.Exists(): // by another name it is no owner to the collector
				return here, "", nil
			case o.Exists():
				queue = append(queue, node{o.Object.Namespace, o.Object.Owners, here})
			case o.State == plan.Unknown && unread == "":
				unread = fmt.Sprintf("%s, an owner above it, could not be read: whether the object owns that was not found out",
					Name(r))
			}
		}
	}
	return nil, unread, nil
}

// wayWords say by way of what an owner is owned; empty if by nothing else.
func wayWords(way []graph.OwnerReference) string {
	if len(way) == 1 {
		return ""
	}
	var names []string
	for _, r := range way[:len(way)-1] {
		names = append(names, Name(r))
	}
	return " by way of " + strings.Join(names, ", ")
}
