package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Options say how to carry out a plan.
type Options struct {
	// GracePeriodSeconds, if not nil, goes with the requested deletes.
	GracePeriodSeconds *int64
	// Positions are where the listing ended on which the plan rests; the wait begins there.
	Positions []cluster.Position
	// Wait for the whole cascade, until the context ends.
	Wait bool
	// Tell is called with each event, and Tick every second with what is left and for how long nothing has happened to it; one
	// call at a time.
	Tell func(Event)
	Tick func(left []Left, total int, quiet time.Duration)
}

// serialized makes the calls come one at a time: the deletes and the watches tell from goroutines of their own.
func (o Options) serialized() Options {
	var mu sync.Mutex
	tell, ticked := o.Tell, o.Tick
	o.Tell = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		tell(e)
	}
	o.Tick = func(left []Left, total int, quiet time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		ticked(left, total, quiet)
	}
	return o
}

// Result is what came of a plan.
type Result struct {
	Done    []plan.Action
	Failed  []Failure
	Skipped []Failure
	// Left is what was waited for and is still there.
	Left []Left
}

// Failure is an action that was not carried out, and why.
type Failure struct {
	Action plan.Action
	Err    error
}

// Run sends the deletes of a plan and waits for the cascade. The error is for what ended it early, a context among it; what single
// objects met is in the Result, which is never nil.
func Run(ctx context.Context, client *cluster.Client, p *plan.Plan, opts Options) (*Result, error) {
	result := &Result{}
	opts = opts.serialized()
	w := newWaiter(p, opts)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	if opts.Wait {
		go func() { ended <- w.watch(watching, client) }()
	} else {
		ended <- nil
	}
	defer func() { stop(); <-ended }()
	for _, a := range p.Actions {
		if a.By != plan.ByClient {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		send(ctx, client, p.Graph, a, opts, result)
	}
	if ctx.Err() != nil {
		result.Left = w.left()
		return result, context.Cause(ctx)
	}
	if !opts.Wait {
		return result, nil
	}
	w.abandon(p, result)
	select {
	case <-w.done:
	case err := <-ended:
		ended <- nil
		result.Left = w.left()
		return result, err
	case <-ctx.Done():
		result.Left = w.left()
		return result, context.Cause(ctx)
	}
	return result, nil
}

// errChanged is what a delete fails with when the object is not what the plan was about.
var errChanged = errors.New("its finalizers or owners were changed since the plan was made; plan again")

// send sends one delete. It carries the uid and the resourceVersion of the object in the plan. If that has changed, it is sent with the uid
// alone provided that what the plan rests on is as it was: an object whose status changes all the time could not be deleted otherwise.
func send(ctx context.Context, client *cluster.Client, g *graph.Graph, a plan.Action, opts Options, result *Result) {
	ref := g.Ref(a.Object)
	t, _ := g.Type(a.Object)
	opts.Tell(Event{What: Deleting, Object: ref, Policy: string(a.Policy)}) // its end may be seen before the answer
	options := cluster.DeleteOptions{
		Policy: string(a.Policy), GracePeriodSeconds: opts.GracePeriodSeconds, ResourceVersion: g.ResourceVersion(a.Object),
	}
	_, err := client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, options)
	if apierrors.IsConflict(err) {
		var now *graph.Object
		if now, err = client.Get(ctx, t, ref.Namespace, ref.Name); err == nil {
			switch {
			case now.UID != ref.UID:
				err = errReplaced
			case !asPlanned(g, a.Object, now):
				err = errChanged
			default:
				options.ResourceVersion = ""
				_, err = client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, options)
			}
		}
	}
	switch {
	case err == nil:
		result.Done = append(result.Done, a)
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), errors.Is(err, errReplaced):
		if apierrors.IsNotFound(err) {
			err = errors.New("it was gone already")
		}
		result.Skipped = append(result.Skipped, Failure{a, err})
		opts.Tell(Event{What: Skipped, Object: ref, Err: err})
	default:
		if errors.Is(err, errChanged) { // the server's own errors name the object
			err = fmt.Errorf("%s %q was not deleted: %w", ref.Resource, ref.Name, err)
		}
		result.Failed = append(result.Failed, Failure{a, err})
		opts.Tell(Event{What: Failed, Object: ref, Err: err})
	}
}

// errReplaced is why an object is skipped that was deleted and created again.
var errReplaced = errors.New("another object has its name now")

// asPlanned says whether what the plan rests on is as it was: the owners, and the finalizers of others. The collector's own are replaced
// by the delete; and the deletionTimestamp may be the work of the delete that has just been refused, because the API server stores the
// finalizers of a delete first and then finds that the resourceVersion has changed.
func asPlanned(g *graph.Graph, id graph.ID, now *graph.Object) bool {
	var owners []graph.OwnerReference
	for e := range g.Owners(id) {
		owners = append(owners, graph.OwnerReference{
			APIVersion: e.APIVersion, Kind: e.Kind, Name: e.Name, UID: g.Ref(e.Owner).UID, Controller: e.Controller, Block: e.Block,
		})
	}
	return slices.Equal(owners, now.Owners) && slices.Equal(ofOthers(g.Finalizers(id)), ofOthers(now.Finalizers))
}

// ofOthers leaves the collector's finalizers out.
func ofOthers(finalizers []string) []string {
	var others []string
	for _, f := range finalizers {
		if f != plan.OrphanFinalizer && f != plan.ForegroundFinalizer {
			others = append(others, f)
		}
	}
	return others
}

// Check sends the deletes of a plan with dryRun=All: everything happens on the server but the storing. It returns what was
// refused, and what was accepted without the finalizer that the policy asks for: such a server deletes at once (API-006).
func Check(ctx context.Context, client *cluster.Client, p *plan.Plan, gracePeriodSeconds *int64) (refused []Failure, ignored []plan.Action) {
	for _, a := range p.Actions {
		if a.By != plan.ByClient || ctx.Err() != nil {
			continue
		}
		ref := p.Graph.Ref(a.Object)
		t, _ := p.Graph.Type(a.Object)
		answer, err := client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, cluster.DeleteOptions{
			Policy: string(a.Policy), GracePeriodSeconds: gracePeriodSeconds, DryRun: true,
		})
		want := map[plan.Policy]string{plan.Foreground: plan.ForegroundFinalizer, plan.Orphan: plan.OrphanFinalizer}[a.Policy]
		switch {
		case err != nil:
			refused = append(refused, Failure{a, err})
		case want != "" && !plan.IgnoresPolicy(ref) && !(answer.Object && slices.Contains(answer.Finalizers, want)):
			ignored = append(ignored, a)
		}
	}
	return refused, ignored
}
