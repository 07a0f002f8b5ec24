package deletion

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostAskedFirst is about how many deletes of others the server is asked before a deletion, which
// is to begin soon.
const mostAskedFirst = 500

// admission asks the server, before a deletion that is not only a preview, whether it refuses what
// others delete, if a policy or a webhook may. Where these may not be listed, nobody is asked: the
// wait tells.
func (pl *planner) admission(ctx context.Context, reader *cluster.Reader, p *Planned) error {
	if !pl.request.AskServer {
		return nil
	}
	known := map[typeIn]bool{}
	for _, a := range p.Actions {
		if a.Verb != plan.VerbDelete || a.By == plan.ByClient {
			continue
		}
		w := writeTo(p.Graph, a.Object, admissionv1.Delete)
		if at := (typeIn{w.Type, w.Object.GetNamespace()}); !known[at] {
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
	for _, r := range asked.Refused {
		refused[r.Action.Object] = r.Err.Error()
	}
	p.Plan = p.Without(refused)
	if len(refused) > 0 {
		p.Plan = p.With(p.needs)
	}
}
