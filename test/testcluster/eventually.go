package testcluster

import (
	"context"
	"testing"
	"time"
)

// patience is how long a control plane may take for what a test waits for. It is long for the
// collector, which looks for new types every 30 seconds, beside so many tests that each of its
// requests takes ten times as long. It is only ever waited out by a test that fails.
const patience = 4 * time.Minute

// To look is often to run kubectl, and many tests wait at the same time for a server that all share.
// So a test looks less often the longer it waits. It is late by a quarter of what it has waited, at
// least by the one of these and at most by the other.
const (
	between     = 25 * time.Millisecond
	mostBetween = 500 * time.Millisecond
)

// Between is how long a server is left alone between two looks at it, for one who has waited so long.
func Between(waited time.Duration) time.Duration { return max(between, min(waited/4, mostBetween)) }

// Eventually waits until holds says true. It fails the test if that takes too long or holds gives
// an error.
func Eventually(t testing.TB, what string, holds func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for began := time.Now(); ; {
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
		case <-time.After(Between(time.Since(began))):
		}
	}
}
