package deletion

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// mostAskedFirst is about how many deletes of others the server is asked before a deletion, which
// is to begin soon.
const mostAskedFirst = 500

// admission finds out whether the server refuses what others delete: it does where a guard stays that
// keeps it. Before a deletion that is not only a preview the server is asked, too, if a policy or a
// webhook may refuse it. Where these may not be listed, nobody is asked: the wait tells.
func (pl *planner) admission(ctx context.Context, reader *cluster.Reader, p *Planned) error {
	if without := p.WithoutGuarded(); without != p.Plan {
		p.Plan = without.With(p.needs)
	}
	if !pl.request.AskServer {
		return nil
	}
	known := map[admission.Place]bool{}
	for _, a := range p.Actions {
		if a.Verb != plan.VerbDelete || a.By == plan.ByClient {
			continue
		}
		w := writeTo(p.Graph, a.Object, admissionv1.Delete)
		if at := reader.Admission().Place(ctx, w); !known[at] {
			known[at] = true
			if reader.Admission().MayRefuse(ctx, w) {
				p.ask(ctx, mostAskedFirst)
				break
			}
		}
	}
	return context.Cause(ctx)
}

// typeIn is a type in a namespace, or everywhere if it is empty.
type typeIn struct {
	of        graph.Type
	namespace string
}

// writeTo is an operation on an object of a graph, which has no labels.
func writeTo(g *graph.Graph, id graph.ID, operation admissionv1.OperationType) admission.Write {
	of, _ := g.Type(id)
	ref := g.Ref(id)
	return admission.Of(operation, of, ref.Namespace, ref.Name)
}

// ask asks the server about up to so many deletes of others, and plans with what it refuses.
func (p *Planned) ask(ctx context.Context, most int) {
	asked := act.Ask(ctx, p.planner.client, p.Plan, most)
	p.Asked = &asked
	refused := map[graph.ID]string{}
	var kept []graph.ID
	for _, r := range asked.Refused {
		id := r.Action.Object
		refused[id] = r.Err.Error()
		if unasked := cluster.Unasked(r.Err); unasked != nil && unasked.Guard != "" {
			kept = append(kept, id)
		}
	}
	p.Plan = p.WithoutKept(refused, kept)
	of := len(asked.Refused)
	asked.Refused = slices.DeleteFunc(asked.Refused, func(r act.Failure) bool { return !p.Refuses(r.Action.Object) })
	asked.Unanswered += of - len(asked.Refused) // what else may refuse these was not asked
	if len(asked.Refused) > 0 {
		p.Plan = p.With(p.needs)
	}
}

// Unjudged says which deletes the server may refuse for a reason that only it can evaluate, of those
// about which it was not asked; empty if there are none. What the policies of kubectl gc protect deny
// is in Denied.
func (p *Planned) Unjudged(ctx context.Context) string {
	return unjudged(ctx, cluster.NewReader(p.planner.client, p.planner.catalog), p.Plan,
		func(a plan.Action) bool { return p.Asked == nil || a.By == plan.ByClient })
}

// unjudged is Unjudged of some of the deletes of a plan.
func unjudged(ctx context.Context, reader *cluster.Reader, p *plan.Plan, of func(plan.Action) bool) string {
	known, err := protect.Stored(ctx, reader)
	if err != nil {
		return "it is unknown which deletes the server refuses: " + err.Error()
	}
	by := map[admission.Place]string{}
	var objects []graph.Ref
	first := ""
	for _, a := range p.Actions {
		if a.Verb != plan.VerbDelete || !of(a) {
			continue
		}
		w := writeTo(p.Graph, a.Object, admissionv1.Delete)
		at := reader.Admission().Place(ctx, w)
		who, seen := by[at]
		if !seen {
			who = refuser(ctx, reader.Admission(), w, known)
			by[at] = who
		}
		if who == "" {
			continue
		}
		if first == "" {
			first = who
		}
		objects = append(objects, p.Graph.Ref(a.Object))
	}
	if first == "" {
		return ""
	}
	return fmt.Sprintf("it is unknown whether the server refuses the deletion of %s: %s", firstFew(objects), first)
}

// refuser says what may refuse a write, besides the policies that are known; empty if nothing does.
// What could not be read may.
func refuser(ctx context.Context, r *admission.Registry, w admission.Write, known []protect.Denial) string {
	hooks, unread := r.Webhooks(ctx)
	for _, h := range hooks {
		if r.Calls(ctx, h, w) != admission.Never {
			return fmt.Sprintf("%s decides, and was not asked", h)
		}
	}
	policies, more := r.Policies(ctx, admission.ValidatingPolicies, w)
	for _, p := range policies {
		if !slices.ContainsFunc(known, func(d protect.Denial) bool { return d.Policy == p.Config.GetName() }) {
			return fmt.Sprintf("%s decides, and was not asked", p)
		}
	}
	if unread = slices.Concat(unread, more); len(unread) > 0 {
		return phrase.And(unread)
	}
	return ""
}

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
	t, _ := p.Graph.Type(a.Object)
	access := cluster.AccessTo("patch", "", t, p.Graph.Ref(a.Object))
	switch a.Verb {
	case plan.VerbDelete:
		access.Verb = "delete"
	case plan.VerbFinalizeNamespace:
		access.Verb, access.Subresource = "update", "finalize"
	}
	return access
}
