package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remarkProtected names the objects that the server does not delete, with what it says, and what
// cannot complete because of that.
func (p Plan) remarkProtected() []remark {
	var all []remark
	for message, objects := range groups(p.protected(),
		func(r v1alpha1.Protected) (string, graph.Ref) { return r.Message, r.Object }) {
		all = append(all, remark{fmt.Sprintf("the server refuses the deletion of %s: %s",
			few(KindNames(objects...)), Escape(Shorten(message))), objects})
	}
	return all
}

// protected are all objects whose deletion the server refuses, but for those that are Denied.
func (p Plan) protected() []v1alpha1.Protected {
	return slices.DeleteFunc(slices.Concat(p.Protected(), p.Refusals), func(r v1alpha1.Protected) bool {
		return slices.ContainsFunc(p.Denied, func(d plan.Denied) bool { return p.Graph.Ref(d.Object) == r.Object })
	})
}

// remarkDenied names the objects whose deletion a policy denies, and what each policy protects.
func (p Plan) remarkDenied() []remark {
	var all []remark
	for _, d := range p.Denied {
		ref := p.Graph.Ref(d.Object)
		all = append(all, remark{Escape(d.Denial(ref.KindName())), []graph.Ref{ref}})
	}
	return all
}

// remarkAsked says what the answers of the server do not tell.
func (p Plan) remarkAsked() []remark {
	if p.Asked == nil {
		return nil
	}
	var parts []string
	if p.Asked.Count < p.Asked.Of {
		parts = append(parts, fmt.Sprintf("the server was asked about %d of the %d deletes that others send", p.Asked.Count,
			p.Asked.Of))
	}
	if n := p.Asked.Unanswered; n > 0 {
		parts = append(parts, fmt.Sprintf("it is unknown whether the server refuses %s: no dry run could tell",
			phrase.Count(n, "delete")))
	}
	if len(p.Asked.Refused) > 0 && !p.Asked.AsControllers {
		parts = append(
			parts, "the server was asked in your name, because you may not impersonate the controllers that delete; a policy may decide otherwise for them")
	}
	if len(parts) == 0 {
		return nil
	}
	return []remark{{text: strings.Join(parts, "; ")}}
}
