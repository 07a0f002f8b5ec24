package render

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remarkConfirmations says which deletions wait for somebody to confirm them, and with which command.
func (p Plan) remarkConfirmations() []remark {
	var all []remark
	for _, c := range p.Confirmations {
		all = append(all, remark{fmt.Sprintf("%s: %s; once its deletion has begun, this command confirms it: %s",
			KindName(c.Object), Escape(c.Waits), Escape(c.Command())), []graph.Ref{c.Object}})
	}
	return all
}

func (p Plan) remarkUnreadConfirmations() []remark {
	ids := p.UnreadConfirmations
	return p.of(ids, "it is unknown whether somebody has to confirm the deletion of %s: %s",
		few(KindNamesOf(p.Graph, ids)), p.whyUnread(ids))
}

// unconfirmed names the objects whose deletions wait for somebody to confirm them.
func (p Plan) unconfirmed() []string {
	var names []string
	for _, c := range p.Confirmations {
		if name := KindName(c.Object); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// confirmation is what an object waits for because of a finalizer, if that is a confirmation.
func (w Waits) confirmation(of graph.Ref, finalizer string) (string, bool) {
	i := slices.IndexFunc(w.Confirmations, func(c plan.Confirmation) bool {
		return c.Object.UID == of.UID && c.Finalizer == finalizer
	})
	if i < 0 {
		return "", false
	}
	return Escape(w.Confirmations[i].Waits), true
}
