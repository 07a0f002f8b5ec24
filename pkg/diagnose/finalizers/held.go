package finalizers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// held is for an object that says that the actor waits for somebody else, or another object that
// belongs to it, where the pack knows how that is said.
func (e *Examiner) held(ctx context.Context, q *question) []core.Finding {
	if q.o.GetDeletionTimestamp() == nil || !q.a.IsKnown {
		return nil
	}
	var all []core.Finding
	for _, h := range q.a.Known.HeldBy {
		if !h.Applies(q.o.Object) {
			continue
		}
		for _, o := range e.belonging(ctx, q.o, h) {
			f := q.says(q.waiting(), h, []string{core.Named(e.Ref(o))})
			f.About, f.Evidence = new(e.Ref(o)), core.ObservedAt(core.From(o, "status"), core.From(o, "")+" has not ended")
			if o.GetKind() == "Job" {
				f.Commands = append(f.Commands, core.Command("kubectl", "logs", "OBJECT").Doing("shows what it does").
					Risking(finalizer.RiskNone))
			}
			f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
			all = append(all, f)
		}
		all = append(append(all, e.heldByItems(q, h)...), e.heldByAnnotations(q, h)...)
		all = append(all, e.undrained(ctx, q, h)...)
	}
	q.proven = q.proven || len(all) > 0
	return all
}

// heldByItems is for an object that says it in the items of a list.
func (e *Examiner) heldByItems(q *question, h finalizer.Hold) []core.Finding {
	var names []string
	for _, item := range h.Holding(q.o.Object) {
		name := graph.Located(status.Text(item, "kind"), status.Text(item, "namespace"), status.Text(item, "name"))
		names = append(names, name)
	}
	if len(names) == 0 || approved(q.o, h.Approval) {
		return nil
	}
	f := q.says(q.waiting(), h, names)
	f.Evidence = core.ObservedAt(core.From(q.o, h.Items.String()), f.Sentence)
	if h.Approval != "" {
		f.Commands = append(f.Commands, core.Command("kubectl", "annotate", "OBJECT",
			h.Approval+"="+e.Now.UTC().Format(time.RFC3339), "--overwrite").
			Doing("lets the deletion go on").Risking(finalizer.DataLoss))
	}
	f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
	return []core.Finding{f}
}

// heldByAnnotations is for an object that others keep with annotations until they are done.
func (e *Examiner) heldByAnnotations(q *question, h finalizer.Hold) []core.Finding {
	f, names := q.waiting(), []string(nil)
	for _, key := range slices.Sorted(maps.Keys(q.o.GetAnnotations())) {
		if h.Annotation == "" || !strings.HasPrefix(key, h.Annotation) {
			continue
		}
		name, says := key, fmt.Sprintf("its annotation %s names no owner", key)
		if owner := q.o.GetAnnotations()[key]; owner != "" {
			name, says = key+" of "+owner, fmt.Sprintf("its annotation %s is %q", key, owner)
		}
		names = append(names, name)
		f.Evidence = append(f.Evidence, core.ObservedAt(core.From(q.o, "metadata.annotations"), says)...)
	}
	if len(names) == 0 {
		return nil
	}
	f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
	return []core.Finding{q.says(f, h, names)}
}

// belonging returns the objects of a hold that belong to an object, as far as they can be listed.
func (e *Examiner) belonging(ctx context.Context, o *unstructured.Unstructured,
	h finalizer.Hold) []*unstructured.Unstructured {
	r, served := e.KindIn(h.Group, h.Kind)
	if h.Kind == "" || !served {
		return nil
	}
	var all []*unstructured.Unstructured
	for _, namespace := range h.LookIn(o.Object, o.GetNamespace()) {
		list, err := e.Reader.ListObjects(ctx, schema.GroupResource{Group: r.Group, Resource: r.Resource}, namespace,
			cluster.Selection{})
		if err != nil {
			continue // and the reader has noted the gap
		}
		for _, by := range list {
			if h.Belongs(by.Object, o.GetNamespace(), o.GetName()) {
				all = append(all, by)
			}
		}
	}
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
