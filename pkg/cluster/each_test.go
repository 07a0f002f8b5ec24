package cluster

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// TestEachCallsForAllItems, never more at once than the client sends requests, and returns after
// the last.
func TestEachCallsForAllItems(t *testing.T) {
	c := &Client{concurrency: 2}
	got := make([]string, 5)
	var running, most atomic.Int64
	Each(c, []string{"a", "b", "c", "d", "e"}, func(i int, item string) {
		n := running.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		got[i] = item
		running.Add(-1)
	})
	if !slices.Equal(got, []string{"a", "b", "c", "d", "e"}) || most.Load() > 2 {
		t.Errorf("called with %v, at most %d at once", got, most.Load())
	}
}

// TestEachUntilEndsWithTheFirstError: the context of the other calls ends.
func TestEachUntilEndsWithTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	err := EachUntil(t.Context(), &Client{concurrency: 2}, []bool{true, false},
		func(ctx context.Context, _ int, fails bool) error {
			if fails {
				return broken
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
	if !errors.Is(err, broken) {
		t.Errorf("%v, want the first error", err)
	}
}
