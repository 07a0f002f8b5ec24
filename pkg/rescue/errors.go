package rescue

import "errors"

// ErrMoved is of an object that changes all the time.
var ErrMoved = errors.New("it kept changing in the meantime")

// What has become of a dependent that cannot be written to.
var (
	errGone     = errors.New("it no longer exists")
	errReplaced = errors.New("another object has its name now")
	errDeleting = errors.New("it is being deleted itself")
)
