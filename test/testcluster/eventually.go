package testcluster

import (
	"context"
	"testing"
	"time"
)

// patience is how long a control plane may take for what a test waits for. It is long for the
// collector, which looks for new types every 30 seconds, and it is only ever waited out by a test
// that fails.
const patience = 90 * time.Second

// between is how long it is left alone between two looks.
const between = 25 * time.Millisecond

// Eventually waits until holds says true. It fails the test if that takes too long or holds gives
// an error.
func Eventually(t testing.TB, what string, holds func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		ok, err := holds(ctx)
		if err != nil {
			t.Fatalf("waiting until %s: %v", what, err)
		}
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waiting until %s: it did not happen: %v", what, ctx.Err())
		case <-time.After(between):
		}
	}
}
