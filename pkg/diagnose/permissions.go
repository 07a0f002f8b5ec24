package diagnose

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// withPermissions adds what the user may not do of what would free the objects.
func (e *examiner) withPermissions(ctx context.Context, findings []finding) []finding {
	var accesses []cluster.Access
	var of []finding
	for _, f := range findings {
		if f.finalizer == "" {
			continue
		}
		o := f.object()
		t, ok := e.Catalog.Kind(o.APIVersion, o.Kind)
		if !ok {
			continue
		}
		a := cluster.Access{Verb: "patch", Type: t, Namespace: o.Namespace}
		if !e.many {
			a.Name = o.Name
		}
		if f.code == NamespaceSpecFinalizer || f.finalizer == plan.NamespaceFinalizer {
			a.Verb, a.Subresource = "update", "finalize"
		}
		accesses, of = append(accesses, a), append(of, f)
	}
	said := map[cluster.Access]bool{}
	for i, review := range e.reviews.Ask(ctx, accesses) {
		a := accesses[i]
		a.Name = "" // one answer is for all of a type and namespace
		if review.Permission != cluster.Denied || said[a] {
			continue
		}
		said[a] = true
		about := of[i].object()
		findings = append(findings, finding{
			code: CureForbidden, about: &about, at: of[i].at, via: of[i].via, after: of[i].after, finalizer: of[i].finalizer,
			evidence: observed(deniedTo(a, review)),
			remedy:   "Ask for the permission, or ask somebody who has it.",
			commands: []step{canI(a).doing("asks again whether you may")},
		})
	}
	return distinct(findings)
}

// deniedTo says what the user may not do.
func deniedTo(a cluster.Access, review cluster.Review) string {
	what := a.Type.Resource
	if a.Type.Group != "" {
		what += "." + a.Type.Group
	}
	if a.Subresource != "" {
		what += "/" + a.Subresource
	}
	says := fmt.Sprintf("you may not %s %s", a.Verb, what)
	if a.Namespace != "" {
		says += " in namespace " + a.Namespace
	}
	if review.Reason != "" {
		says += ": " + review.Reason
	}
	return says
}

// canI is the command that asks the server for the right again.
func canI(a cluster.Access) step {
	if a.Subresource == "" {
		return command("kubectl", "auth", "can-i", a.Verb, "OBJECT")
	}
	return command("kubectl", "auth", "can-i", a.Verb, "OBJECT", "--subresource="+a.Subresource)
}
