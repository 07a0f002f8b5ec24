package collect

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TestAWatchKeepsCountsAndNoEvents, and a write that fails again and again is news once.
func TestAWatchKeepsCountsAndNoEvents(t *testing.T) {
	t.Parallel()
	tally := newTally(false)
	const n = 5000
	news := 0
	for i := range n {
		object := graph.Ref{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "ns",
			Name: fmt.Sprint("c", i), UID: fmt.Sprint(i)}
		tally.Add(plan.Event{Action: plan.Write{Verb: plan.VerbDelete, Object: object, Because: plan.OwnersGone, Pass: i}})
		for range 2 {
			if tally.Add(plan.Event{Action: plan.Write{Verb: plan.VerbOrphan, Object: object}, Err: errors.New("refused")}) {
				news++
			}
		}
	}
	if len(tally.Events) > 0 || len(tally.failed) > mostFailures || len(tally.told) > mostTold {
		t.Errorf("it keeps %d events, %d failures and %d objects", len(tally.Events), len(tally.failed), len(tally.told))
	}
	if news != n {
		t.Errorf("%d of %d failures of %d objects were news", news, 2*n, n)
	}
	if tally.Count(plan.VerbDelete) != n || tally.Begun() != 0 || tally.Passes != n-1 {
		t.Errorf("%d deletes, %d begun, %d passes", tally.Count(plan.VerbDelete), tally.Begun(), tally.Passes)
	}
	errs := tally.Errors()
	if last := errs[len(errs)-1].Error(); last != fmt.Sprintf("%d more writes failed", 2*n-mostFailures) {
		t.Errorf("the last error is %q", last)
	}
}

// TestARunKeepsItsEvents and counts a delete that finalizers keep from ending as begun.
func TestARunKeepsItsEvents(t *testing.T) {
	t.Parallel()
	tally := newTally(true)
	failure := plan.Event{Action: plan.Write{Verb: plan.VerbOrphan}, Err: errors.New("refused")}
	for _, e := range []plan.Event{{Action: plan.Write{Verb: plan.VerbDelete}},
		{Action: plan.Write{Verb: plan.VerbDelete, RemainingFinalizers: []string{"example.com/hold"}}}, failure, failure} {
		if !tally.Add(e) {
			t.Errorf("%v is no news", e)
		}
	}
	if len(tally.Events) != 4 || len(tally.Errors()) != 2 || tally.Count(plan.VerbDelete) != 1 || tally.Begun() != 1 ||
		tally.Passes != 1 {
		t.Errorf("tally %+v", tally)
	}
}

// TestAWatchDoesNotCountWhatNobodyHasAnswered: while the server is away, it tells of a write, which
// it tries again later.
func TestAWatchDoesNotCountWhatNobodyHasAnswered(t *testing.T) {
	t.Parallel()
	tally := newTally(false)
	away := &url.Error{Op: "Delete", URL: "https://127.0.0.1", Err: errors.New("connection refused")}
	if news := tally.Add(plan.Event{Action: plan.Write{Verb: plan.VerbDelete}, Err: fmt.Errorf("deleting: %w", away)}); !news ||
		len(tally.Errors()) > 0 || tally.Unanswered() != 1 {
		t.Errorf("news: %t, errors %v, %d unanswered", news, tally.Errors(), tally.Unanswered())
	}
}
