package collect

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

const (
	// maxIdle is how many passes in a row may end without a write before the loop takes what is
	// left for somebody else's turn.
	maxIdle = 3
	// idleWait is for how long such a pass that watches waits for the next, which sees what has
	// happened until then.
	idleWait = 100 * time.Millisecond
	// maxFailures is how often a write to one object may fail before it is left alone.
	maxFailures = 2
)

// Loop goes over a cluster in passes. Between them it remembers what stays true: which owners are
// absent for good, and which objects were being deleted before a listing began. It is not safe for
// concurrent use.
type Loop struct {
	client *cluster.Client
	opts   Options
	proofs *proofs
	passes int
	// answered says that the server has answered a listing, so that one that fails later may
	// succeed again.
	answered bool
	told     sync.Mutex

	mu      sync.Mutex
	deletes int
	// store holds what there is while Watch runs, due what it has to look at, and served what
	// discovery has answered; nil otherwise.
	store  *cluster.Store
	due    *due
	served served
	// waiting are the uids of objects that have waited for their dependents since before the
	// current listing began: it shows all of them (RO-020, RO-022). Those that were seen to wait
	// during a pass are kept for the next.
	waiting, next map[string]bool
	// early are the uids of owners that waited in the foreground before the loop began; nil before
	// the first listing.
	early  map[string]bool
	failed map[string]int
	// written counts the writes that the server has taken, of objects that are there.
	written map[effect]int
	// orphaned are the uids of owners whose orphan finalizer was removed, and when, until a listing
	// that began later shows no dependent.
	orphaned map[string]time.Time
	// warned are the references, by the uids of dependent and owner, of which an Event was written.
	warned map[[2]string]bool
	// observed are the uids of owners whose controllers were waited for.
	observed map[string]bool
	// consent is what was agreed to, and declined the uids of objects about which Agree answered
	// ErrOnlyAgreed. Bound says that something was agreed to, explicit that the caller has said so.
	consent         plan.Consent
	declined        map[string]bool
	bound, explicit bool
	// witnessed are, by uid, the objects whose deletion a watch has shown, and lost the owners that
	// a watch has never shown.
	witnessed map[string]deletion
	lost      losses
	// left is how many things were remembered of objects after forgetting last.
	left int
	// saved is the archive that each write must be covered by; nil without one. Own are the
	// versions of objects that writes of the loop have made, by uid.
	saved *archive.Saved
	own   map[string]string
}

// New returns a Loop that has sent nothing yet.
func New(client *cluster.Client, opts Options) *Loop {
	l := &Loop{client: client, opts: opts, proofs: newProofs(opts.CRDs),
		waiting: map[string]bool{}, next: map[string]bool{}, failed: map[string]int{}, orphaned: map[string]time.Time{},
		observed: map[string]bool{}, warned: map[[2]string]bool{},
		written: map[effect]int{}, declined: map[string]bool{}, witnessed: map[string]deletion{}, own: map[string]string{}}
	for _, uid := range opts.Waiting {
		l.next[uid] = true
	}
	return l
}

// Listing is what was seen of the cluster.
type Listing struct {
	// Graph is the listing, Gaps what it could not see.
	Graph *graph.Graph
	Gaps  []v1alpha1.Gap
	// Unread is what could not be read live, so that it and what depends on it was kept: one gap
	// for each type, namespace and reason, which names one object. Unlike the Gaps it hides no
	// dependents.
	Unread []v1alpha1.Gap
}

// Result is what a pass found.
type Result struct {
	Listing
	// ResumePoints are where the lists ended.
	ResumePoints []cluster.ResumePoint
	// Writes is how many writes the server has taken.
	Writes int
	// NotDeleted are the objects that the pass looked at and did not delete, and why.
	NotDeleted []plan.ObjectReason
	// again says that a later listing can show more than this one, and part that the graph is not
	// of all there is.
	again, part bool
}

// Run makes passes until one has nothing to write, and returns what the last of them found. What is
// left then waits for somebody else. The error is for what ended it early, a context among it, or
// why a pass was refused: a *OwnerLossError, a *MaxDeletesError, a *GrownError or what
// Options.Agree has returned. What single writes met is told in the events.
func (l *Loop) Run(ctx context.Context) (*Result, error) {
	l.bound = l.explicit
	return l.run(ctx)
}

func (l *Loop) run(ctx context.Context) (*Result, error) {
	l.forgetNames()
	for idle := 0; ; {
		s, err := l.Pass(ctx)
		if err != nil {
			return s, err
		}
		if s.Writes > 0 {
			idle = 0
			continue
		}
		if idle++; !s.again || idle == maxIdle {
			return s, nil
		}
		if l.store != nil {
			if err := sleep(ctx, idleWait); err != nil {
				return s, err
			}
		}
	}
}

// Pass lists, plans, decides and acts once. What a write brings about is acted on in the same pass,
// as far as it was planned and agreed to. The errors are those of Run.
func (l *Loop) Pass(ctx context.Context) (*Result, error) {
	l.mu.Lock()
	l.passes++
	l.mu.Unlock()
	p, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	l.answered = true
	l.forgetGone(p)
	err = p.bind(ctx)
	if p.part != nil && errors.As(err, new(*OwnerLossError)) { // which takes all owners of a kind to tell
		l.due.addAll()
		return l.Pass(ctx)
	}
	if err == nil {
		p.warn(ctx)
		err = p.run(ctx)
	}
	p.result.Unread = p.unread.besides(p.result.Gaps)
	p.result.NotDeleted = p.projection.NotDeleted(p.allows)
	return &p.result, err
}

// list begins a pass with fresh discovery and a fresh listing, or with what a store holds.
func (l *Loop) list(ctx context.Context) (*pass, error) {
	l.mu.Lock()
	maps.Copy(l.waiting, l.next)
	clear(l.next)
	l.mu.Unlock()
	l.proofs.newPass()
	if l.store != nil {
		return l.fromStore(ctx)
	}
	client := l.client.WithFreshDiscovery()
	catalog, err := client.Discover(ctx)
	if err != nil {
		return nil, &listError{err}
	}
	listing, err := selection.List(ctx, client, catalog, l.opts.List)
	if err != nil {
		return nil, &listError{err}
	}
	return newPass(l, client, listing), nil
}

func (l *Loop) allows(g *graph.Graph, id graph.ID) bool {
	return l.opts.Allow == nil || l.opts.Allow(g, id)
}

// sees reports whether the current listing began after the object was seen to wait for its
// dependents; if not, the next one will.
func (l *Loop) sees(uid string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[uid] {
		return true
	}
	l.next[uid] = true
	return false
}

// givenUp reports whether writes to the object have failed too often.
func (l *Loop) givenUp(uid string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed[uid] >= maxFailures
}

// ErrMaxDeletes ends a run that would delete more than it may.
var ErrMaxDeletes = errors.New("the loop has deleted as many objects as it may")

// notDeleted takes a delete that the server has not taken out of the count.
func (l *Loop) notDeleted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deletes--
}

// mayDelete counts a delete that is about to be sent; one that is sent again counts once. Every
// pass was checked before its first write (Check), and this holds whatever has come up since.
func (l *Loop) mayDelete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opts.MaxDeletes > 0 && l.deletes >= l.opts.MaxDeletes {
		return false
	}
	l.deletes++
	return true
}

func (l *Loop) onEvent(e plan.Event) {
	if e.Err != nil {
		l.mu.Lock()
		l.failed[e.Action.Object.UID]++
		l.mu.Unlock()
	}
	l.told.Lock()
	defer l.told.Unlock()
	if l.opts.OnEvent != nil {
		l.opts.OnEvent(e)
	}
}
