package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// withPermissions adds what the user may not do of what would free the objects.
func (e *examiner) withPermissions(ctx context.Context, findings []core.Finding) []core.Finding {
	var accesses []cluster.Access
	var of []core.Finding
	for _, f := range findings {
		if f.Finalizer == "" {
			continue
		}
		o := f.Object()
		t, ok := e.Catalog.Kind(o.APIVersion, o.Kind)
		if !ok {
			continue
		}
		a := cluster.Access{Verb: "patch", Type: t, Namespace: o.Namespace}
		if !e.Many {
			a.Name = o.Name
		}
		if f.Code == core.NamespaceSpecFinalizer || f.Finalizer == plan.NamespaceFinalizer {
			a.Verb, a.Subresource = "update", "finalize"
		}
		accesses, of = append(accesses, a), append(of, f)
	}
	said := map[cluster.Access]bool{}
	for i, review := range e.Reviews.Ask(ctx, accesses) {
		a := accesses[i]
		a.Name = "" // one answer is for all of a type and namespace
		if review.Permission != cluster.Denied || said[a] {
			continue
		}
		said[a] = true
		findings = append(findings, core.Finding{
			Code: core.CureForbidden, About: new(of[i].Object()), At: of[i].At, Via: of[i].Via, After: of[i].After,
			Finalizer: of[i].Finalizer,
			Evidence:  core.Observed(cluster.MissingRight{Access: a, Reason: review.Reason}.Error()),
			Commands:  []core.Step{canI(a).Doing("asks again whether you may")},
		})
	}
	return core.Distinct(findings)
}

// canI is the command that asks the server for the right again.
func canI(a cluster.Access) core.Step {
	if a.Subresource == "" {
		return core.Command("kubectl", "auth", "can-i", a.Verb, "OBJECT")
	}
	return core.Command("kubectl", "auth", "can-i", a.Verb, "OBJECT", "--subresource="+a.Subresource)
}
