// Package answer has the errors that are an answer and no failure: a refusal, a finding, a no. It
// also adds hints to errors. It is pure.
package answer

import "errors"

// ErrFound is an answer that has been printed already. Its exit code is 2.
var ErrFound = errors.New("something was found")

// ErrCancelled is the answer no to a question. Its exit code is 2: what was asked for was not done.
var ErrCancelled = errors.New("deletion is cancelled")

// refusal is an error for what was not done on purpose.
type refusal struct{ error }

// Unwrap makes the error and the hint of a refusal visible.
func (r refusal) Unwrap() error { return r.error }

// Refuse makes a refusal of an error: nothing failed, and something was not done on purpose. Its
// exit code is 2. Nil stays nil.
func Refuse(err error) error {
	if err == nil {
		return nil
	}
	return refusal{err}
}

// IsRefusal reports whether an error is a refusal.
func IsRefusal(err error) bool { return errors.As(err, new(refusal)) }

// hinted is an error with a line that says what to do next.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }

// WithHint adds to an error what to do next. An empty hint adds nothing.
func WithHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return hinted{err, hint}
}

// Hint returns the first hint of an error; empty if it has none.
func Hint(err error) string {
	h, _ := errors.AsType[hinted](err)
	return h.hint
}

// Cancelled is ErrCancelled in other words.
func Cancelled(text string) error { return cancelled(text) }

type cancelled string

func (c cancelled) Error() string { return string(c) }

// Is makes it ErrCancelled to errors.Is.
func (c cancelled) Is(target error) bool { return target == ErrCancelled }
