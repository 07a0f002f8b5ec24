package answer

import (
	"errors"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// Flatten returns the errors that an error joins or aggregates, in their order; one that is single
// is the only one.
func Flatten(err error) []error {
	if agg, ok := errors.AsType[utilerrors.Aggregate](err); ok {
		return utilerrors.Flatten(agg).Errors()
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Flatten(e)...)
	}
	return all
}
