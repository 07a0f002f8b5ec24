package change

import (
	"errors"
	"fmt"
)

// Why a write was not made, where it is not the server that says so.
var (
	// ErrGone is of an object that is proven not to exist.
	ErrGone = errors.New("it no longer exists")
	// ErrReplaced is of an object that was deleted and created again.
	ErrReplaced = errors.New("another object has its name now")
	// ErrMoved is of an object that was another version each time that it was written to.
	ErrMoved = fmt.Errorf("it was changed %d times meanwhile; try again", Tries)
	// ErrNotShown is of a write that the server has taken, and whose answer is not what was asked
	// for (API-033). What was removed and is there all the same is a cluster.PutBackError.
	ErrNotShown = errors.New("the server accepted the change, but the response lacks it: " +
		"a webhook or a policy that changes writes may have undone it")
)

// IsOver tells the errors of an object that is gone, or that another has replaced: nothing is to be
// done to it any more.
func IsOver(err error) bool { return errors.Is(err, ErrGone) || errors.Is(err, ErrReplaced) }
