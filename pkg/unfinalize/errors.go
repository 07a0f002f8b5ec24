package unfinalize

import (
	"errors"
	"strings"
)

// Why something was not done, where it is not the server that says so.
var (
	// ErrReplaced is of an object that has been deleted and created again.
	ErrReplaced = errors.New("another object has its name now")
	// ErrNotSelected is of an object that was found by a selector and does not match it any more.
	ErrNotSelected = errors.New("it no longer matches the selector")
	// ErrMoved is of an object that changes all the time.
	ErrMoved = errors.New("it was changed again and again meanwhile")
	// ErrNotReached is of an object whose turn did not come, because another was refused.
	ErrNotReached = errors.New("not reached: another object was refused before")
)

// RefusedError is an object that is, since it was judged, not what could be helped.
type RefusedError struct{ Refusals []Refusal }

// Error gives the reasons.
func (e *RefusedError) Error() string {
	var because []string
	for _, r := range e.Refusals {
		because = append(because, r.Because)
	}
	return "it was changed meanwhile: " + strings.Join(because, "; ")
}
