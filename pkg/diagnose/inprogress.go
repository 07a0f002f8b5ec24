package diagnose

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// compare reads again what should move, where somebody is about to be blamed for doing nothing, and corrects the findings if something has moved since the
// survey, or if nobody has had the time to begin. The error is that of a context that ended.
func (e *collector) compare(ctx context.Context, explained [][]finding) error {
	var all []*movement
	seen := map[*movement]bool{nil: true}
	for _, findings := range explained {
		for _, f := range findings {
			if !seen[f.moves] {
				seen[f.moves] = true
				all = append(all, f.moves)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	if e.progress != nil {
		e.progress(0, len(all), "deletions a second time")
	}
	if err := e.limits.pause(ctx, e.now); err != nil {
		return err
	}
	e.readAgain(ctx, all)
	within := time.Since(e.now)
	for i, findings := range explained {
		out := slices.Clone(findings)
		for j, f := range out {
			if f.moves != nil {
				out[j] = e.moving(f, within)
			}
		}
		explained[i] = out
	}
	return nil
}

// moving returns a finding as it is after the second reading.
func (e *collector) moving(f finding, within time.Duration) finding {
	m := f.moves
	young := e.past(m.of) < e.limits.young && f.code != CollectorNotRunning && f.code != NamespaceControllerNotRunning && f.code != NamespaceDeletionFailed
	noun, verb := e.noun(m)
	seconds := phrase.Ago(max(time.Second, within))
	switch {
	case m.gone:
		return e.inProgress(f, fmt.Sprintf("it no longer exists after %s", seconds))
	case m.moved > 0:
		return e.inProgress(f, fmt.Sprintf("%d of %s %s %s within %s", m.moved, phrase.Count(len(m.ids), noun), phrase.Plural(m.moved, "was", "were"), verb, seconds))
	case young && len(m.ids) == 0:
		return e.inProgress(f, "nothing that it waits for was seen, which means nothing so soon")
	case young:
		return e.inProgress(f, fmt.Sprintf("none of %s was %s within %s, which means nothing so soon", phrase.Count(len(m.ids), noun), verb, seconds))
	case m.unread:
		f.evidence = append(slices.Clone(f.evidence), observed("whether anything happens could not be read")...)
	case len(m.ids) > 0:
		f.evidence = append(slices.Clone(f.evidence), observed(fmt.Sprintf("none of %s was %s within %s", phrase.Count(len(m.ids), noun), verb, seconds))...)
	}
	return f
}

// inProgress is the cause of an object that is not stuck. It lies in the owner or the namespace, whichever dependent it was found at.
func (e *collector) inProgress(f finding, says string) finding {
	ref := e.Graph.Ref(f.moves.of)
	out := finding{
		code: InProgress, at: ref, via: f.via, finalizer: "", actor: f.actor, after: f.after,
		evidence: observed(fmt.Sprintf("deleted %s ago", phrase.Ago(time.Since(time.Unix(e.Graph.DeletionTimestamp(f.moves.of), 0)))), says),
		commands: []step{command("kubectl", "wait", "OBJECT", "--for=delete", "--timeout=2m").doing("waits until it is deleted")},
	}
	if i := slices.Index(out.via, ref); i >= 0 {
		out.via = out.via[:i+1]
	}
	return out
}

// pieces are what is remembered of an object at the second reading.
type pieces struct {
	deletionTimestamp  bool
	finalizers, owners int
}

// readAgain reads the metadata of all objects that should move, each type and namespace once.
func (e *collector) readAgain(ctx context.Context, all []*movement) {
	now, unread := e.piecesOf(ctx, all)
	for _, m := range all {
		at, _ := e.placeOf(m.of)
		_, there := now[e.Graph.Ref(m.of).UID]
		m.gone = !there && !unread[at]
		for _, id := range m.ids {
			at, ok := e.placeOf(id)
			switch {
			case !ok:
			case unread[at]:
				m.unread = true
			case e.moved(id, now):
				m.moved++
			}
		}
	}
}

// piecesOf reads the metadata of the objects of movements by uid, and says where that cannot be done.
func (e *collector) piecesOf(ctx context.Context, all []*movement) (now map[string]pieces, unread map[place]bool) {
	wanted := map[place][]graph.ID{}
	for _, m := range all {
		for _, id := range append(slices.Clone(m.ids), m.of) {
			if at, ok := e.placeOf(id); ok {
				wanted[at] = append(wanted[at], id)
			}
		}
	}
	var mu sync.Mutex
	now, unread = map[string]pieces{}, map[place]bool{}
	keep := func(o *graph.Object) {
		mu.Lock()
		defer mu.Unlock()
		now[o.UID] = pieces{o.DeletionTimestamp != 0, len(o.Finalizers), len(o.Owners)}
	}
	var group errgroup.Group
	group.SetLimit(e.client.Concurrency())
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
func (e *collector) each(ctx context.Context, at place, ids []graph.ID, f func(*graph.Object)) error {
	if len(ids) > fewReads {
		_, err := e.client.ForEachMeta(ctx, at.t, at.namespace, f)
		return err
	}
	for _, id := range ids {
		name := e.Graph.Name(id)
		o, err := e.client.GetMeta(ctx, at.t, at.namespace, name)
		switch {
		case err == nil:
			f(o)
		case !cluster.IsAbsent(err, at.t, name):
			return err
		}
	}
	return nil
}

// moved says whether an object was deleted since the snapshot, or has lost a finalizer or an owner.
func (e *collector) moved(id graph.ID, now map[string]pieces) bool {
	p, there := now[e.Graph.Ref(id).UID]
	return !there || p.deletionTimestamp && e.Graph.DeletionTimestamp(id) == 0 || p.finalizers < len(e.Graph.Finalizers(id)) || p.owners < e.Graph.OwnerCount(id)
}

func (e *collector) placeOf(id graph.ID) (place, bool) {
	t, ok := e.Graph.Type(id)
	return place{t, e.Graph.Namespace(id)}, ok && e.Graph.Observed(id)
}
