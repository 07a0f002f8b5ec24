package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
)

// findDenied finds out which deletes of this command a policy of kubectl gc protect denies. If the
// policies cannot be listed, nothing is said: the server answers when a delete is sent. The error is
// the end of ctx.
func (pl *planner) findDenied(ctx context.Context, reader *cluster.Reader, p *plan.Plan, details *plan.Details) error {
	user := sync.OnceValue(func() string {
		name, _ := pl.client.WhoAmI(ctx) // nobody is excepted without a name
		return name
	})
	known := map[typeIn][]protect.Denial{}
	for _, a := range p.Actions {
		if a.Verb != plan.VerbDelete || !slices.Contains(pl.request.writers(), a.By) || !deniable(p.Graph, a.Object) {
			continue
		}
		w := writeTo(p.Graph, a.Object, admissionv1.Delete)
		at := typeIn{w.Type, w.Object.GetNamespace()}
		if _, asked := known[at]; !asked {
			known[at] = denials(ctx, reader, w)
		}
		for _, d := range known[at] {
			if d.Denies(p.Graph.Ref(a.Object).UID, a.Policy == plan.Orphan) && !d.Excepts(user()) {
				details.Denied = append(details.Denied, plan.Denied{Object: a.Object, Policy: d.Policy, Protects: d.Protects,
					Itself: d.UID == p.Graph.Ref(a.Object).UID})
				break
			}
		}
	}
	return context.Cause(ctx)
}

// deniable says whether a policy denies the deletion of an object at all.
func deniable(g *graph.Graph, id graph.ID) bool {
	_, lifted := g.Annotations(id)[protect.Lifts]
	return !lifted && g.State(id) != graph.Deleting
}

// denials are what the policies deny that are applied to objects of the type and the namespace of a
// write.
func denials(ctx context.Context, reader *cluster.Reader, w admission.Write) (all []protect.Denial) {
	policies, _ := reader.Admission().Policies(ctx, admission.ValidatingPolicies, w)
	for _, policy := range policies {
		if d, ok := protect.Read(policy.Config); ok {
			all = append(all, d)
		}
	}
	return all
}

// denied is the refusal of a plan with a delete that a policy denies.
func (p *Planned) denied() error {
	first, more := p.Denied[0], ""
	if n := len(p.Denied) - 1; n > 0 {
		more = fmt.Sprintf("; %s denied, too", phrase.Count(n, "more deletion")+phrase.Plural(n, " is", " are"))
	}
	object := p.Graph.Ref(first.Object)
	allow := append(append([]string{"kubectl", "annotate"}, object.Arguments()...), protect.Lifts+"=")
	return answer.Refuse(answer.WithHint(errors.New("nothing was deleted: "+first.Denial(object.Located())+more),
		fmt.Sprintf("--dry-run=client shows the plan; if you mean it, %s allows it", phrase.Command(allow...))))
}
