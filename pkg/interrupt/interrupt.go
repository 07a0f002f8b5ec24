// Package interrupt ends the wait for what knows no context. It is pure but for a timer.
package interrupt

import (
	"context"
	"errors"
	"time"
)

// ErrKey is the answer Ctrl-C where a key sends no signal, as in a list that has the terminal.
var ErrKey = errors.New("interrupted")

// endsByItself is how long something that was interrupted has to end by itself.
const endsByItself = 500 * time.Millisecond

// Do returns what read returns or, if that goes on although ctx has ended, what ended ctx. It is
// for what knows no context: a computation, a file, standard input, a credential plugin. That goes
// on until the process ends, so it must not write to a server.
func Do[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		value, err := read()
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
	}
	last := time.NewTimer(endsByItself)
	defer last.Stop()
	select {
	case a := <-answered: // which may be more than that it was interrupted
		return a.value, a.err
	case <-last.C:
		var none T
		return none, context.Cause(ctx)
	}
}
