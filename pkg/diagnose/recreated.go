package diagnose

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// recreated is for a blocking dependent that was made when its owner was being deleted already, and
// not only just: its controller does not heed the deletion and makes it again as often as the
// collector deletes it, so that the owner never goes.
func (e *collector) recreated(ctx context.Context, edge graph.Edge) (core.Finding, bool) {
	deleted, created := e.Graph.DeletionTimestamp(edge.Owner), e.Graph.CreationTimestamp(edge.Dependent)
	after := time.Duration(created-deleted) * time.Second
	if deleted == 0 || after <= max(0, e.Limits.Young) {
		return core.Finding{}, false
	}
	owner := e.Graph.Ref(edge.Owner)
	f := core.Finding{Code: core.BlockerRecreated, Commands: append([]core.Step{
		core.Describe().Doing("shows what made it").Risking(finalizer.RiskNone)}, core.At(owner, again("background")[0]))}
	f.Observe("it was created %s after the deletion of %s began", phrase.Ago(after), e.named(edge.Owner))
	who := "the controller that makes it"
	if o := e.Own(ctx, edge.Dependent); o != nil {
		if w := cluster.LastWriter(o, cluster.OwnerPath(owner.UID)); w.Manager != "" {
			who += fmt.Sprintf(" (field manager %q)", w.Manager)
			f.Observe("field manager %q wrote the reference to %s", w.Manager, e.named(edge.Owner))
		}
	}
	f.Args = []string{"{maker}", who}
	return f, true
}

// behindRecreated puts what keeps a dependent that was made again behind that.
func (e *collector) behindRecreated(ctx context.Context, edge graph.Edge, f core.Finding) []core.Finding {
	findings := core.Found(e.Graph.Ref(edge.Dependent), f)
	if e.Graph.DeletionTimestamp(edge.Dependent) == 0 {
		return findings // the collector deletes it each time
	}
	return append(findings, core.Later(e.Causes(ctx, edge.Dependent))...)
}
