package deletion

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// permissions are what is being found out of what the user may do, while the objects are listed.
type permissions struct {
	reviews *cluster.Reviews
	cancel  context.CancelFunc
	asked   chan struct{}
}

// askPermissions begins to ask whether the objects may be deleted. It has to be stopped.
func askPermissions(ctx context.Context, client *cluster.Client, objects []selection.Object) *permissions {
	ctx, cancel := context.WithCancel(ctx)
	r := &permissions{reviews: client.Reviews(), cancel: cancel, asked: make(chan struct{})}
	accesses := make([]cluster.Access, len(objects))
	for i, o := range objects {
		accesses[i] = cluster.Access{Verb: "delete", Type: o.Type, Namespace: o.Namespace, Name: o.Name}
	}
	go func() {
		defer close(r.asked)
		r.reviews.Ask(ctx, accesses)
	}()
	return r
}

func (r *permissions) stop() {
	r.cancel()
	<-r.asked
}

// forbidden returns those of the plan's writes that are done by the writers and that are known to
// be refused.
func (r *permissions) forbidden(ctx context.Context, p *plan.Plan, writers ...plan.By) []plan.Forbidden {
	<-r.asked
	var accesses []cluster.Access
	var actions []plan.Action
	for _, a := range p.Actions {
		if slices.Contains(writers, a.By) {
			actions = append(actions, a)
			accesses = append(accesses, accessOf(p, a))
		}
	}
	var forbidden []plan.Forbidden
	for i, review := range r.reviews.Ask(ctx, accesses) {
		if review.Permission == cluster.Denied {
			forbidden = append(forbidden, plan.Forbidden{
				Object: actions[i].Object, Verb: accesses[i].Verb, Resource: accesses[i].Type.Resource,
				Subresource: accesses[i].Subresource, Reason: review.Reason,
			})
		}
	}
	return forbidden
}

// accessOf is the right that an action needs.
func accessOf(p *plan.Plan, a plan.Action) cluster.Access {
	ref := p.Graph.Ref(a.Object)
	t, _ := p.Graph.Type(a.Object)
	access := cluster.Access{Verb: "patch", Type: t, Namespace: ref.Namespace, Name: ref.Name}
	switch a.Verb {
	case plan.VerbDelete:
		access.Verb = "delete"
	case plan.VerbFinalizeNamespace:
		access.Verb, access.Subresource = "update", "finalize"
	}
	return access
}
