package act

import (
	"context"
	"time"
)

// settling is how long changes are gathered before the collector's part is done again because of them.
const settling = 100 * time.Millisecond

// collect has the collector's part done, and again whenever something of the cascade has changed: what others let go can give it more to do.
func (r *run) collect(ctx context.Context) error {
	for {
		if err := r.opts.Collect(ctx, r.result.Done); err != nil {
			return err
		}
		select {
		case <-r.waiter.changed:
		case <-ctx.Done():
			return nil
		}
		select {
		case <-time.After(settling):
		case <-ctx.Done():
			return nil
		}
		select {
		case <-r.waiter.changed:
		default:
		}
	}
}
