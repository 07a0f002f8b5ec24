package ownerref

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// ErrNotServed is of an owner whose kind no API that discovery shows serves exactly as the
// reference has it.
var ErrNotServed = errors.New("no API serves its kind")

// Owner is what a live read shows of the owner that a reference names.
type Owner struct {
	Reference graph.OwnerReference
	State     plan.OwnerState
	// Type is that of the owner, and Object what has its name; zero and nil if it was not read.
	Type   graph.Type
	Object *graph.Object
	// Err is why the state is plan.Unknown: ErrNotServed, or the server's.
	Err error
}

// exists reports whether the very object with the uid was read.
func (o Owner) exists() bool { return o.Object != nil && o.Object.UID == o.Reference.UID }

// readOwner reads live what a reference of an object in a namespace names, as the collector does;
// the namespace of a cluster-scoped object is empty. That an owner is absent takes an answer that
// is about that very object; anything else is plan.Unknown (RO-004).
func readOwner(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, namespace string,
	r graph.OwnerReference) Owner {
	o := Owner{Reference: r, State: plan.Unknown}
	t, served := catalog.Kind(r.APIVersion, r.Kind)
	switch {
	case !served:
		o.Err = fmt.Errorf("%w %s of %s", ErrNotServed, r.Kind, r.APIVersion)
		return o
	case t.Namespaced && namespace == "":
		o.Type, o.State = t, plan.BadScope
		return o
	case !t.Namespaced:
		namespace = ""
	}
	o.Type = t
	now, err := client.GetMeta(ctx, t, namespace, r.Name)
	switch {
	case cluster.IsAbsent(err, t, r.Name):
		o.State = plan.Absent
	case err != nil:
		o.Err = err
	case now.UID == "":
		o.Err = cluster.ErrNoUID
	default:
		o.Object, o.State = now, plan.LiveOwner(now, r.UID)
	}
	return o
}

// ReadOwners reads all owners of an object.
func ReadOwners(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, namespace string,
	refs []graph.OwnerReference) []Owner {
	owners := make([]Owner, len(refs))
	for i, r := range refs {
		owners[i] = readOwner(ctx, client, catalog, namespace, r)
	}
	return owners
}

// States are those of owners, in their order.
func States(owners []Owner) []plan.OwnerState {
	states := make([]plan.OwnerState, len(owners))
	for i, o := range owners {
		states[i] = o.State
	}
	return states
}

// Name names the owner of a reference as kubectl's -o name does: deployment.apps/web.
func Name(r graph.OwnerReference) string {
	return graph.Ref{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name}.TypeName()
}

// Names are the owners that the references of an object name, as TYPE/NAME. If the object cannot be
// read there are none.
func Names(ctx context.Context, client *cluster.Client, object selection.Object) []string {
	now, err := client.GetMeta(ctx, object.Type, object.Namespace, object.Name)
	if err != nil {
		return nil
	}
	return phrase.Words(now.Owners, Name)
}

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
			o := readOwner(ctx, a.client, a.catalog, next.namespace, r)
			switch {
			case ctx.Err() != nil:
				return nil, "", context.Cause(ctx)
			case r.UID == a.Object.UID && o.exists(): // by another name it is no owner to the collector
				return here, "", nil
			case o.exists():
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
	return " by way of " + strings.Join(phrase.Words(way[:len(way)-1], Name), ", ")
}
