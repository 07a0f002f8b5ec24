package cluster

import (
	"context"
	"time"
)

// answerTime is for how long a write that is under way is waited for when nobody wants to go on.
const answerTime = 2 * time.Second

// writeContext returns the context of a write. A write that was sent and whose answer nobody waits
// for may have been done or not, and what is told of it would be a guess; so it outlives the
// context that it comes from by answerTime. The second result has to be called when the answer is
// there. The error is that of a context that has ended before: nothing is sent any more.
func writeContext(ctx context.Context) (context.Context, func(), error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	writing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(answerTime, func() { cancel(context.Cause(ctx)) })
	})
	return writing, func() {
		stop()
		cancel(nil)
	}, nil
}
