package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// held is for an object that says that the actor waits for somebody else, or another object that
// belongs to it, where the pack knows how that is said.
func (e holders) held(ctx context.Context, q *question) []core.Finding {
	if q.o.GetDeletionTimestamp() == nil || !q.a.IsKnown {
		return nil
	}
	var all []core.Finding
	var unread error
	holds := slices.DeleteFunc(slices.Clone(q.a.Known.HeldBy), func(h finalizer.Hold) bool {
		if !h.Applies(q.o.Object) {
			return true
		}
		deletes, err := e.Actors.Deletes(ctx, q.o, q.a, h.UnlessDeleted)
		unread = cmp.Or(unread, err)
		return deletes
	})
	for _, h := range holds {
		for _, o := range e.belonging(ctx, q.o, h) {
			f := q.says(q.waiting(), h, []string{cluster.Located(o)})
			f.About = new(e.Ref(o))
			f.Evidence = core.ObservedAt(cluster.Place(o, "status"), cluster.Place(o, "")+" has not ended")
			if o.GetKind() == "Job" {
				f.Commands = append(f.Commands, core.Command("kubectl", "logs", "OBJECT").Safely("shows what it does"))
			}
			f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
			all = append(all, f)
		}
		all = append(append(all, e.heldByItems(q, h)...), e.heldByAnnotations(q, h)...)
		all = append(append(all, e.heldByText(q, h)...), e.undrained(ctx, q, h)...)
		all = append(all, e.heldUntilGone(ctx, q, h)...)
	}
	for _, h := range holds {
		if len(all) == 0 {
			all = e.heldByWarning(ctx, q, h)
		}
	}
	if unread != nil { // it may wait for nothing of that
		for i := range all {
			all[i].Observe("whether what it belongs to is being deleted too is not known: %v", unread)
		}
		return all
	}
	q.proven = q.proven || len(all) > 0
	return all
}

// heldByItems is for an object that says it in the items of a list.
func (e holders) heldByItems(q *question, h finalizer.Hold) []core.Finding {
	names := h.HoldingNames(q.o.Object)
	if len(names) == 0 || !h.Says.IsZero() || status.Approved(q.o, h.Approval) {
		return nil
	}
	f := q.says(q.waiting(), h, names)
	f.Evidence = core.ObservedAt(cluster.Place(q.o, h.Items.String()), f.Sentence)
	if h.Approval != "" {
		f.Commands = append(f.Commands, core.Command("kubectl", "annotate", "OBJECT",
			h.Approval+"="+e.Now.UTC().Format(time.RFC3339), "--overwrite").
			Doing("lets the deletion go on").Risking(finalizer.DataLoss))
	}
	f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
	return []core.Finding{f}
}

// heldByAnnotations is for an object that others keep with annotations until they are done.
func (e holders) heldByAnnotations(q *question, h finalizer.Hold) []core.Finding {
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
		f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(q.o, "metadata.annotations"), says)...)
	}
	if len(names) == 0 {
		return nil
	}
	f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
	return []core.Finding{q.says(f, h, names)}
}

// heldByText is for an object that says it in a text.
func (e holders) heldByText(q *question, h finalizer.Hold) []core.Finding {
	texts := h.Texts(q.o.Object)
	if len(texts) == 0 {
		return nil
	}
	f := q.waiting()
	for i, text := range texts {
		texts[i] = core.Brief(text)
		f.Evidence = append(f.Evidence,
			core.ObservedAt(cluster.Place(q.o, h.Said()), fmt.Sprintf("its %s is: %s", h.Said(), texts[i]))...)
	}
	f = q.says(f, h, texts)
	f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
	return []core.Finding{f}
}

// heldUntilGone is for an object that names others, which have to be gone first.
func (e holders) heldUntilGone(ctx context.Context, q *question, h finalizer.Hold) []core.Finding {
	var all []core.Finding
	for _, n := range e.Actors.Named(ctx, q.o, q.a, h.UntilGone) {
		o, err := e.Reader.GetObject(ctx, n.Type.GroupResource(), n.Namespace, n.Name)
		if err != nil || o == nil {
			continue
		}
		f := q.says(q.waiting(), h, []string{cluster.Located(o)})
		says := cluster.Located(o) + " is still there"
		if n.Field != "" {
			says = fmt.Sprintf("its %s names %s, which is still there", n.Field, cluster.Located(o))
		}
		f.Commands = append(f.Commands, core.InTheWay(false))
		if o.GetDeletionTimestamp() != nil {
			says += ", and is being deleted"
			f.Commands = []core.Step{core.InTheWay(true)}
		}
		f.About, f.Evidence = new(e.Ref(o)), core.ObservedAt(cluster.Place(q.o, n.Field), says)
		f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
		if id, listed := e.Graph.Lookup(string(o.GetUID())); listed && e.Graph.DeletionTimestamp(id) != 0 {
			f.Users = []graph.ID{id}
		}
		all = append(all, f)
	}
	return all
}

// heldByWarning is for a warning that says it: about the object, or about the Node that it names.
func (e holders) heldByWarning(ctx context.Context, q *question, h finalizer.Hold) []core.Finding {
	if h.Warning == "" {
		return nil
	}
	for _, about := range e.warnedOf(ctx, q, h) {
		for i, w := range e.WarnedSince(ctx, about, q.o.GetDeletionTimestamp().Time) {
			if !h.Warned(w.Reason, w.Message) {
				continue
			}
			held := core.Brief(w.Message)
			if h.Shared && about.GetUID() != q.o.GetUID() {
				held = cluster.Located(about) + ": " + held
			}
			f := q.says(q.waiting(), h, []string{held})
			f.Warned = true
			f.Evidence = core.ObservedAt(cluster.Place(w.Event, ""), e.QuotedWarning(i, w))
			f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
			return []core.Finding{f}
		}
	}
	return nil
}

// warnedOf returns the objects of which a Warning counts, the one in question first, as far as they
// can be read.
func (e holders) warnedOf(ctx context.Context, q *question, h finalizer.Hold) []*unstructured.Unstructured {
	if !h.Node.IsZero() {
		name, _ := h.Node.Text(q.o.Object)
		if node, err := e.Reader.GetObject(ctx, cluster.Nodes, "", name); name != "" && err == nil && node != nil {
			return []*unstructured.Unstructured{node}
		}
		return nil
	}
	all := []*unstructured.Unstructured{q.o}
	kind := q.o.GroupVersionKind()
	r, served := e.Reader.KindIn(kind.Group, kind.Kind)
	if !h.Shared || !served {
		return all
	}
	for _, o := range e.List(ctx, r.Type, "") {
		if o.GetUID() != q.o.GetUID() && slices.Contains(o.GetFinalizers(), q.a.Finalizer) {
			all = append(all, o)
		}
	}
	return all
}

// belonging returns the objects of a hold that belong to an object, as far as they can be listed.
func (e holders) belonging(ctx context.Context, o *unstructured.Unstructured,
	h finalizer.Hold) []*unstructured.Unstructured {
	r, served := e.Reader.KindIn(h.Group, h.Kind)
	if h.Kind == "" || !served {
		return nil
	}
	var all []*unstructured.Unstructured
	for _, namespace := range h.LookIn(o.Object, o.GetNamespace()) {
		for _, by := range e.List(ctx, r.Type, namespace) {
			if h.Belongs(by.Object, o.GetNamespace(), o.GetName()) {
				all = append(all, by)
			}
		}
	}
	return all
}

// after is how many causes come before what the actor misses or waits for: one that does not run has
// to run first.
func (q *question) after() int {
	if q.a.Life == actor.Dead {
		return 1
	}
	return 0
}

// waiting begins the finding that an actor waits for somebody else.
func (q *question) waiting() core.Finding {
	b := core.ResponsibleFor(q.o, q.a)
	return core.Finding{Code: core.ActorWaiting, Finalizer: q.a.Finalizer, Actor: q.a.Who, Cost: b.Cost(),
		DataLoss: b.LosesData(), After: q.after(),
		Commands: []core.Step{core.Describe().Safely("shows what it waits for")}}
}

// says completes it with what the pack says of what holds the object.
func (q *question) says(f core.Finding, h finalizer.Hold, names []string) core.Finding {
	who := core.Whoever(q.a)
	f.Sentence, f.Remedy = who+" "+h.Filled(h.Waits, who, names), h.Filled(h.Remedy, who, names)
	return f
}
