package unfinalize

import (
	"errors"
	"strings"
)

// Why something was not done, where neither the server nor package change says so.
var (
	// ErrNotSelected is of an object that was found by a selector and does not match it any more.
	ErrNotSelected = errors.New("it no longer matches the selector")
	// ErrNotReached is of an object whose turn did not come, because another was refused.
	ErrNotReached = errors.New("not reached: another object was refused before")
)

// RefusedError is of an object that is, since it was assessed, not what could be helped, or never
// was.
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
