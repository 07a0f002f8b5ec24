package cluster

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Each calls do with each of some items and its place among them, as many calls at once as the
// client sends requests, and returns when all of them have.
func Each[T any](c *Client, items []T, do func(i int, item T)) {
	var group errgroup.Group
	group.SetLimit(c.concurrency)
	for i, item := range items {
		group.Go(func() error {
			do(i, item)
			return nil
		})
	}
	_ = group.Wait() // no call returns an error
}

// EachUntil is Each for calls that can fail. The first error ends the context of the others, and is
// returned.
func EachUntil[T any](ctx context.Context, c *Client, items []T,
	do func(ctx context.Context, i int, item T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.concurrency)
	for i, item := range items {
		group.Go(func() error { return do(ctx, i, item) })
	}
	return group.Wait()
}
