package act

import (
	"context"
	"time"
)

// settling is how long changes are gathered before the collector's part is done again because of
// them.
const settling = 100 * time.Millisecond

// collect has the collector's part done, and again whenever something of the cascade has changed:
// when others have removed their finalizers it can have more to do. The last time is when all is
// gone, since objects that stay may still have references to what is gone.
func (r *run) collect(ctx context.Context) error {
	for last := false; ; {
		if err := r.opts.Collect(ctx, r.result.Done); err != nil || last {
			return err
		}
		select {
		case <-r.waiter.changed:
		case <-r.waiter.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case <-time.After(settling):
		case <-r.waiter.done:
			last = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case <-r.waiter.changed:
		default:
		}
	}
}
