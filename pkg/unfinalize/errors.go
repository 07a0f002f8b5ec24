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
	ErrMoved = errors.New("it kept changing in the meantime")
	// ErrNotReached is of an object whose turn did not come, because another was refused.
	ErrNotReached = errors.New("not reached: another object was refused before")
)

// RefusedError is of an object that is, since it was assessed, not what could be helped, or never was.
type RefusedError struct {
	Refusals []Refusal
	// Planned says that the plan had the refusals.
	Planned bool
}

// Error gives the reasons.
func (e *RefusedError) Error() string {
	var because []string
	for _, r := range e.Refusals {
		because = append(because, r.Because)
	}
	if e.Planned {
		return strings.Join(because, "; ")
	}
	return "it was changed meanwhile: " + strings.Join(because, "; ")
}
