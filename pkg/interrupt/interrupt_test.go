package interrupt

import (
	"context"
	"errors"
	"testing"
)

// TestDoEndsWithItsContext: what knows no context is left behind; what notices the end of it says
// what it has to say.
func TestDoEndsWithItsContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted by the test")
	deaf := make(chan struct{})
	defer close(deaf)
	ctx, interrupt := context.WithCancelCause(t.Context())
	began := make(chan struct{})
	go func() { <-began; interrupt(cause) }()
	value, err := Do(ctx, func() (int, error) {
		close(began)
		<-deaf
		return 1, nil
	})
	if value != 0 || !errors.Is(err, cause) {
		t.Errorf("a computation that goes on: %d, %v", value, err)
	}

	ctx, interrupt = context.WithCancelCause(t.Context())
	more := errors.New("two of three were read")
	value, err = Do(ctx, func() (int, error) {
		interrupt(cause)
		<-ctx.Done()
		return 2, more
	})
	if value != 2 || !errors.Is(err, more) {
		t.Errorf("what notices that it was interrupted: %d, %v", value, err)
	}

	if value, err := Do(t.Context(), func() (int, error) { return 3, nil }); value != 3 || err != nil {
		t.Errorf("without an interruption: %d, %v", value, err)
	}
}
