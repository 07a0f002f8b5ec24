package finalizers

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// held is for an object that says that the actor waits for somebody else, where the pack knows how
// it says so.
func (e *Examiner) held(_ context.Context, q *question) []core.Finding {
	if q.o.GetDeletionTimestamp() == nil || !q.a.IsKnown {
		return nil
	}
	var all []core.Finding
	for _, h := range q.a.Known.HeldBy {
		f, names := q.waiting(), []string(nil)
		for _, item := range h.Holding(q.o.Object) {
			name := graph.Located(status.Text(item, "kind"), status.Text(item, "namespace"), status.Text(item, "name"))
			names = append(names, name)
		}
		if len(names) == 0 || approved(q.o, h.Approval) {
			continue
		}
		f = q.says(f, h, names)
		f.Evidence = core.ObservedAt(core.From(q.o, h.Items.String()), f.Sentence)
		if h.Approval != "" {
			f.Commands = append(f.Commands, core.Command("kubectl", "annotate", "OBJECT",
				h.Approval+"="+e.Now.UTC().Format(time.RFC3339), "--overwrite").
				Doing("lets the deletion go on").Risking(finalizer.DataLoss))
		}
		f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
		all = append(all, f)
	}
	q.proven = q.proven || len(all) > 0
	return all
}

// approved says whether an annotation says that somebody let the actor go on since the deletion.
func approved(o *unstructured.Unstructured, annotation string) bool {
	at, err := time.Parse(time.RFC3339, o.GetAnnotations()[annotation])
	return err == nil && !at.Before(o.GetDeletionTimestamp().Time)
}

// waiting begins the finding that an actor waits for somebody else.
func (q *question) waiting() core.Finding {
	b := core.ResponsibleFor(q.o, q.a)
	return core.Finding{Code: core.ActorWaiting, Finalizer: q.a.Finalizer, Actor: q.a.Who, Cost: b.Cost(),
		DataLoss: b.LosesData(),
		Commands: []core.Step{core.Describe().Doing("shows what it waits for").Risking(finalizer.RiskNone)}}
}

// says completes it with what the pack says of what holds the object.
func (q *question) says(f core.Finding, h finalizer.Hold, names []string) core.Finding {
	words := strings.NewReplacer("{held}", phrase.And(names), "{actor}", core.Whoever(q.a))
	f.Sentence, f.Remedy = core.Whoever(q.a)+" "+words.Replace(h.Waits), words.Replace(h.Remedy)
	return f
}
