package diagnose

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// recreated is for a blocking dependent that was made when its owner was being deleted already, and
// not only just: whatever creates it does not heed the deletion. If that creates it again as often as
// the collector deletes it, the owner never goes.
func (e *collector) recreated(ctx context.Context, edge graph.Edge) (core.Finding, bool) {
	deleted, created := e.Graph.DeletionTimestamp(edge.Owner), e.Graph.CreationTimestamp(edge.Dependent)
	after, young := time.Duration(created-deleted)*time.Second, max(0, e.Limits.Young)
	if deleted == 0 || after <= young {
		return core.Finding{}, false
	}
	// A collector at work would have deleted an older one.
	if e.Graph.DeletionTimestamp(edge.Dependent) == 0 && e.Now.Sub(time.Unix(created, 0)) > young {
		return core.Finding{}, false
	}
	if life, _ := e.controllerManager(ctx); life == actor.Dead {
		return core.Finding{}, false
	}
	owner := e.Graph.Ref(edge.Owner)
	f := core.Finding{Code: core.BlockerRecreated, Commands: []core.Step{core.At(owner, again())}}
	f.Observe("it was created %s after the deletion of %s began", phrase.Ago(after), e.named(edge.Owner))
	who := "what creates it"
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
