package change

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Tries is how often a write is sent to an object that changes all the time in what the decision
// does not rest on.
const Tries = 10

// Write is a write to one object that is decided on a version of it.
type Write struct {
	// Seen is the resourceVersion that the first decision is about, if the object is known already;
	// empty to read it before.
	Seen string
	// Read reads the object live, keeps it for Decide, and returns its resourceVersion.
	Read func(context.Context) (string, error)
	// Decide returns what sends the write, decided on the version that was seen or read last; nil
	// if nothing is to be written. The write carries the uid and that version, and its error tells
	// also if the answer does not show what was asked for.
	Decide func(context.Context) (send func(context.Context) error, err error)
}

// Do sends the write, each time decided anew, until the server takes it or refuses it for another
// reason than that the object has changed. What it refuses about a version that is still there is
// its last word. The error is that of Read or Decide, ErrMoved with the server's last answer, which
// may be a webhook's refusal, or the server's.
func (w Write) Do(ctx context.Context) error {
	version := w.Seen
	if version == "" {
		var err error
		if version, err = w.Read(ctx); err != nil {
			return err
		}
	}
	var refusal error
	for range Tries {
		send, err := w.Decide(ctx)
		if err != nil || send == nil {
			return err
		}
		refusal = send(ctx)
		if !IsAmbiguous(refusal) {
			return refusal
		}
		now, err := w.Read(ctx)
		switch {
		case err != nil:
			return unread(ctx, refusal, err)
		case now == version:
			return refusal
		}
		version = now
	}
	return fmt.Errorf("%w; the server last answered: %s", ErrMoved, refusal.Error())
}

// IsAmbiguous tells the errors that can mean that the object is gone, was replaced or has changed.
// A test of a patch that fails is Invalid, and so is an object that would not be valid (T-17). A
// webhook can answer 409 or 404 as well, and a proxy 404, so that none proves anything (RO-004).
func IsAmbiguous(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err)
}

// unread is the error of a write that was refused, and of which a read does not tell why.
func unread(ctx context.Context, refusal, err error) error {
	if IsOver(err) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w; it could not be read again: %w", refusal, err)
}
