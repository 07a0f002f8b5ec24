package deletion

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Options say how to perform a plan. Each of the functions may be nil. They are called one at a
// time, but for OnCollect.
type Options struct {
	// Agree is asked about the plan, without a change, before anything is written. It is asked
	// again about a plan that was made anew and goes beyond those that were agreed to. An error
	// leaves everything alone that the plan is about; ErrNobodyToAsk and answer.ErrCancelled are
	// worded. Without it the plan is agreed to, and nothing beyond it.
	Agree func(ctx context.Context, p *Planned, change *Change) error
	// Asks says that Agree asks a person, and tells that person what Planned.WouldBeStuck says.
	// Otherwise a plan that ends so is refused, unless the request allows it.
	Asks bool
	// Archive, if not nil, is written before the first delete.
	Archive *Archive
	// Wait for the whole cascade, for as long as Timeout; 0 is for ever.
	Wait    bool
	Timeout time.Duration
	// until is when the Timeout ends; zero for Timeout after the first delete.
	until time.Time
	// StageTimeout is how long each stage of an ordered deletion may take; 0 is for ever. OnStage
	// is called before each, with which of how many it is and its plan; it may be nil.
	StageTimeout time.Duration
	OnStage      func(n, of int, stage *Planned)
	// OnStart is called right before the first write, with what was archived; nil without an
	// archive.
	OnStart func(*archive.Saved)
	// OnEvent is called with what happens to objects, and OnTick every second with what is left.
	OnEvent func(act.Event)
	OnTick  func(act.Progress)
	// OnWrite is called with each write of this command that was tried, but for those of ClientGC,
	// with the error if it was not carried out.
	OnWrite func(g *graph.Graph, a plan.Action, err error)
	// OnCollect is called with each write of ClientGC, from any goroutine.
	OnCollect func(collect.Event)
	// OnReplan is called when something was planned again and Agree is not asked: because nothing
	// goes beyond what was agreed to, or because it is refused.
	OnReplan func(p *Planned, change *Change, refused error)
	// Words are the words of errors.
	Words Words
}

// Words say in errors why objects are still there. Without them the errors name objects only.
type Words struct {
	// Remaining says of objects that were waited for what each waits for.
	Remaining func([]act.Blocked) string
}
