package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Guard returns why no DELETE with dryRun=All is to be sent for an object, an UnaskedError, and nil
// if it may be sent: there are webhooks that write when they are called for a dry run.
type Guard func(ctx context.Context, t graph.Type, namespace, name string) error

// UnaskedError is of a DELETE that was not sent with dryRun=All.
type UnaskedError struct {
	// Refused says that the server would refuse the DELETE. Without it, what the server would say
	// is not known.
	Refused bool
	// Guard is the object that keeps it from being deleted, and on which that depends; empty if it
	// is not known.
	Guard string
	// Because is why it was not sent, as a clause.
	Because string
	// Writes is what a webhook would write on a dry run; empty if that is not known.
	Writes string
}

func (e *UnaskedError) Error() string {
	switch {
	case e.Refused && e.Writes != "":
		return e.Because + ", which is known without a dry run, on which a webhook would write " + e.Writes
	case e.Refused:
		return e.Because + ", which is known without a dry run"
	}
	return "no dry run was sent, so that it is not known whether its deletion is refused: " + e.Because
}

// Unasked returns the UnaskedError in an error, nil if there is none.
func Unasked(err error) *UnaskedError {
	var unasked *UnaskedError
	errors.As(err, &unasked)
	return unasked
}

// Guarded returns a Client that shares the connections of this one and asks a Guard before each
// DELETE with dryRun=All. A Client without a Guard sends none.
func (c *Client) Guarded(by Guard) *Client {
	guarded := *c
	guarded.guard = by
	return &guarded
}

// MayDryRun returns why no DELETE with dryRun=All is sent for an object, an UnaskedError; nil if
// one would be.
func (c *Client) MayDryRun(ctx context.Context, t graph.Type, namespace, name string) error {
	if c.guard == nil {
		return &UnaskedError{Because: "what protects objects from being deleted was not looked up"}
	}
	return c.guard(ctx, t, namespace, name)
}

// DryRun is a kind of write that was sent with dryRun=All.
type DryRun struct {
	// Operation is DELETE or UPDATE, as admission calls it.
	Operation string
	Type      graph.Type
	Namespace string
}

// dryRuns are those that were sent, each kind once.
type dryRuns struct {
	mu   sync.Mutex
	sent map[DryRun]bool
}

func (d *dryRuns) add(sent DryRun) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent[sent] = true
}

// DryRuns returns the kinds of deletes and updates that were sent with dryRun=All, by this Client
// and by those that were made of it.
func (c *Client) DryRuns() []DryRun {
	c.dryRuns.mu.Lock()
	defer c.dryRuns.mu.Unlock()
	return slices.Collect(maps.Keys(c.dryRuns.sent))
}
