package rescue

import "errors"

// errDeleting is of a dependent that cannot be written to any more.
var errDeleting = errors.New("it is being deleted itself")
