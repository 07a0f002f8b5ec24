package diagnose

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// compare reads again what should move, where somebody is about to be blamed for doing nothing, and
// corrects the findings if something has moved since the survey, or if nobody has had the time to
// begin. The error is that of a context that ended.
func (e *collector) compare(ctx context.Context, explained [][]core.Finding) error {
	var all []*core.Movement
	seen := map[*core.Movement]bool{nil: true}
	for _, findings := range explained {
		for _, f := range findings {
			if !seen[f.Moves] {
				seen[f.Moves] = true
				all = append(all, f.Moves)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := e.lookAgain(ctx, all); err != nil {
		return err
	}
	within := time.Since(e.Now)
	for i, findings := range explained {
		out := slices.Clone(findings)
		for j, f := range out {
			if f.Moves != nil {
				out[j] = e.moving(f, within)
			}
		}
		explained[i] = out
	}
	return nil
}

// lookAgain reads what should move a second time, a while after the first. In a dump nothing moves,
// which says nothing.
func (e *collector) lookAgain(ctx context.Context, all []*core.Movement) error {
	if e.Client.IsStill() {
		for _, m := range all {
			m.Unread = true
		}
		return nil
	}
	if e.opts.Progress != nil {
		e.opts.Progress(0, len(all), "deletions a second time")
	}
	if err := e.Limits.Pause(ctx, e.Now); err != nil {
		return err
	}
	e.readAgain(ctx, all)
	return nil
}

// moving returns a finding as it is after the second reading.
func (e *collector) moving(f core.Finding, within time.Duration) core.Finding {
	m := f.Moves
	young := e.Past(m.Of) < e.Limits.Young && f.Code != core.CollectorNotRunning &&
		f.Code != core.NamespaceControllerNotRunning && f.Code != core.NamespaceDeletionFailed
	noun, verb := e.noun(m)
	seconds := phrase.Ago(max(time.Second, within))
	switch {
	case m.Gone:
		return e.inProgress(f, fmt.Sprintf("it no longer exists after %s", seconds))
	case m.Moved > 0:
		return e.inProgress(f, fmt.Sprintf("%d of %s %s %s within %s", m.Moved, phrase.Count(len(m.IDs), noun),
			phrase.Plural(m.Moved, "was", "were"), verb, seconds))
	case young && (len(m.IDs) == 0 || m.Unread):
		return tooEarly(e.inProgress(f, "nothing that it waits for was seen, which means nothing so soon"))
	case young:
		return tooEarly(e.inProgress(f, fmt.Sprintf("none of %s was %s within %s, which means nothing so soon",
			phrase.Count(len(m.IDs), noun), verb, seconds)))
	case m.Unread && !e.Reader.TimeIsKnown():
		f.Observe("whether anything happens could not be read; the age of the deletion is by the time of the files, which a copy can change")
	case m.Unread:
		f.Observe("whether anything happens could not be read")
	case len(m.IDs) > 0:
		f.Observe("none of %s was %s within %s", phrase.Count(len(m.IDs), noun), verb, seconds)
	}
	if past := e.Past(m.Of); past < time.Minute {
		f.Observe("it was deleted %s ago: wait a minute before you act on this", phrase.Ago(past))
	}
	return f
}

// tooEarly is the cause of an object of which nobody can tell yet whether it is stuck.
func tooEarly(f core.Finding) core.Finding {
	f.Sentence = "the deletion began some seconds ago: whether it is stuck cannot be told yet"
	f.Remedy = "Wait a minute, and run the command again."
	return f
}

// inProgress is the cause of an object that is not stuck. It lies in the owner or the namespace,
// whichever dependent it was found at.
func (e *collector) inProgress(f core.Finding, says string) core.Finding {
	ref := e.Graph.Ref(f.Moves.Of)
	out := core.Finding{
		Code: core.InProgress, At: ref, Via: f.Via, Finalizer: "", Actor: f.Actor, After: f.After,
		Evidence: core.Observed(fmt.Sprintf("deleted %s ago",
			phrase.Ago(e.Past(f.Moves.Of))), says),
		Commands: []core.Step{core.Command("kubectl", "wait", "OBJECT", "--for=delete",
			"--timeout=2m").Doing("waits until it is deleted")},
	}
	if i := slices.Index(out.Via, ref); i >= 0 {
		out.Via = out.Via[:i+1]
	}
	return out
}

// pieces are what is remembered of an object at the second reading.
type pieces struct {
	deletionTimestamp  bool
	finalizers, owners int
}

// readAgain reads the metadata of all objects that should move, each type and namespace once.
func (e *collector) readAgain(ctx context.Context, all []*core.Movement) {
	now, unread := e.piecesOf(ctx, all)
	for _, m := range all {
		at, _ := e.PlaceOf(m.Of)
		_, there := now[e.Graph.Ref(m.Of).UID]
		m.Gone = !there && !unread[at]
		for _, id := range m.IDs {
			at, ok := e.PlaceOf(id)
			switch {
			case !ok:
			case unread[at]:
				m.Unread = true
			case e.moved(id, now):
				m.Moved++
			}
		}
	}
}

// piecesOf reads the metadata of the objects of movements by uid, and says where that cannot be
// done.
func (e *collector) piecesOf(ctx context.Context, all []*core.Movement) (now map[string]pieces,
	unread map[core.Place]bool) {
	wanted := map[core.Place][]graph.ID{}
	for _, m := range all {
		for _, id := range append(slices.Clone(m.IDs), m.Of) {
			if at, ok := e.PlaceOf(id); ok {
				wanted[at] = append(wanted[at], id)
			}
		}
	}
	var mu sync.Mutex
	now, unread = map[string]pieces{}, map[core.Place]bool{}
	keep := func(o *graph.Object) {
		mu.Lock()
		defer mu.Unlock()
		now[o.UID] = pieces{o.DeletionTimestamp != 0, len(o.Finalizers), len(o.Owners)}
	}
	var group errgroup.Group
	group.SetLimit(e.Client.Concurrency())
	for at, ids := range wanted {
		group.Go(func() error {
			if err := e.each(ctx, at, ids, keep); err != nil {
				mu.Lock()
				defer mu.Unlock()
				unread[at] = true
			}
			return nil
		})
	}
	_ = group.Wait() // each error is in its place
	return now, unread
}

// fewReads is up to how many objects of a type are read one by one.
const fewReads = 4

// each calls f with the metadata of objects of one place, and perhaps of others there.
func (e *collector) each(ctx context.Context, at core.Place, ids []graph.ID, f func(*graph.Object)) error {
	if len(ids) > fewReads {
		_, err := e.Client.ForEachMeta(ctx, at.Type, at.Namespace, f)
		return err
	}
	for _, id := range ids {
		name := e.Graph.Name(id)
		o, err := e.Client.GetMeta(ctx, at.Type, at.Namespace, name)
		switch {
		case err == nil:
			f(o)
		case !cluster.IsAbsent(err, at.Type, name):
			return err
		}
	}
	return nil
}

// moved reports whether an object was deleted since the snapshot, or has lost a finalizer or an
// owner.
func (e *collector) moved(id graph.ID, now map[string]pieces) bool {
	p, there := now[e.Graph.Ref(id).UID]
	return !there || p.deletionTimestamp && e.Graph.DeletionTimestamp(id) == 0 ||
		p.finalizers < len(e.Graph.Finalizers(id)) || p.owners < e.Graph.OwnerCount(id)
}

// movement returns the movement of an owner or a namespace.
func (e *collector) movement(of graph.ID) *core.Movement {
	m := e.movements[of]
	if m == nil {
		m = &core.Movement{Of: of, IDs: e.movable(of)}
		e.movements[of] = m
	}
	return m
}

// movable returns the dependents of an owner, or what is in a namespace.
func (e *collector) movable(of graph.ID) []graph.ID {
	if ref := e.Graph.Ref(of); core.OfType(cluster.Namespaces)(ref) && e.Graph.DeletionTimestamp(of) != 0 {
		if content := e.Links.Content(of); len(content) > 0 {
			return content
		}
	}
	var ids []graph.ID
	for edge := range e.Graph.Dependents(of) {
		ids = append(ids, edge.Dependent)
	}
	return ids
}

// noun says what the objects are, and verb what happens to them.
func (e *collector) noun(m *core.Movement) (noun, verb string) {
	if core.OfType(cluster.Namespaces)(e.Graph.Ref(m.Of)) {
		return "object", "deleted"
	}
	if slices.Contains(e.Graph.Finalizers(m.Of), plan.OrphanFinalizer) {
		return "dependent", "orphaned"
	}
	return "dependent", "deleted"
}
