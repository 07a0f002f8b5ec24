package collect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// maxWrites is how often the loop does the same to an object, in all its life, before it takes it
// that somebody undoes it (RO-031). A uid is never used again, so that nothing else is meant by the
// same object and owner later on.
const maxWrites = 3

// effect is what one write is to bring about: what is done to an object, and because of which owner
// or finalizer.
type effect struct {
	verb plan.Verb
	// object is its uid; empty means all that have had a name, which is who then.
	object, who string
}

// effects are those of an action, each once.
func effects(a *plan.Write) []effect {
	var all []effect
	switch a.Verb {
	case plan.VerbDelete:
		name := strings.Join([]string{a.Object.Group(), a.Object.Resource, a.Object.Namespace, a.Object.Name}, "/")
		all = []effect{{a.Verb, a.Object.UID, ""}, {a.Verb, "", name}}
	case plan.VerbRemoveFinalizer:
		all = []effect{{a.Verb, a.Object.UID, a.Finalizers[0]}}
	}
	for _, uid := range a.Owners {
		if e := (effect{a.Verb, a.Object.UID, uid}); !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

// taken counts a write that the server has taken, whatever has come of it.
func (l *Loop) taken(a *plan.Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range effects(a) {
		l.written[e]++
	}
}

// exhausted returns an effect of an action that was brought about as often as it may be, and
// whether that was told.
func (l *Loop) exhausted(a *plan.Write) (e effect, told, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range effects(a) {
		if n := l.written[e]; n >= maxWrites {
			l.written[e] = maxWrites + 1
			return e, n > maxWrites, true
		}
	}
	return effect{}, false, false
}

// forgetNames drops the counts of names. An object that is created again while a run goes on is
// deleted again by it, which has to come to an end (RO-031); one that is created again long after
// is another matter.
func (l *Loop) forgetNames() {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.written, func(e effect, _ int) bool { return e.object == "" })
}

// givesUp reports whether an action was done so often that somebody must be undoing it, and tells
// so once.
func (p *pass) givesUp(ctx context.Context, a *plan.Write, id graph.ID) bool {
	e, told, is := p.loop.exhausted(a)
	if !is || told {
		return is
	}
	t, _ := p.graph.Type(id)
	var err error
	switch {
	case e.object == "":
		err = fmt.Errorf("it was deleted %d times and created again each time: stop what creates it first", maxWrites)
	case a.Verb == plan.VerbDelete:
		err = fmt.Errorf("it was deleted %d times and is still there", maxWrites)
	case a.Verb == plan.VerbRemoveFinalizer:
		err = p.client.PutBack(ctx, t, a.Object, "finalizer "+e.who, cluster.FinalizerPath(e.who), maxWrites)
	default:
		err = p.client.PutBack(ctx, t, a.Object, p.referenceWords(id, e.who, a.Verb), cluster.OwnerPath(e.who), maxWrites)
	}
	p.loop.onEvent(plan.Event{Action: *a, Err: err})
	return true
}

// verify compares the answer to a patch of references with what was asked, and returns an error if
// one of them is there as it was. A webhook may have changed the write on its way (API-033).
func (p *pass) verify(ctx context.Context, id graph.ID, answer *graph.Object, edges []graph.Edge,
	verb plan.Verb) error {
	for _, e := range edges {
		if uid := p.graph.Ref(e.Owner).UID; undone(answer, uid, verb) {
			return p.client.PutBackAtOnce(ctx, p.object(id).Type, p.referenceWords(id, uid, verb))
		}
	}
	return nil
}

// undone reports whether an object has a reference to an owner, after it was removed; or one that
// blocks, after it was made not to.
func undone(o *graph.Object, uid string, verb plan.Verb) bool {
	return slices.ContainsFunc(o.Owners,
		func(r graph.OwnerReference) bool { return r.UID == uid && (verb == plan.VerbOrphan || r.Block) })
}

// referenceWords name what was removed from an object of the reference to an owner.
func (p *pass) referenceWords(id graph.ID, uid string, verb plan.Verb) string {
	words := "the reference to its owner"
	if verb == plan.VerbUnblock {
		words = "blockOwnerDeletion of the reference to its owner"
	}
	for e := range p.graph.Owners(id) {
		if p.graph.Ref(e.Owner).UID == uid {
			return fmt.Sprintf("%s %s %q", words, e.Kind, e.Name)
		}
	}
	return words
}
