package render

import (
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Paused is a line about why a watch collects nothing for now; of nil, that it goes on.
func Paused(err error) string {
	var loss *collect.OwnerLossError
	switch {
	case err == nil:
		return "collecting again"
	case errors.As(err, &loss):
		return fmt.Sprintf(
			"Warning: nothing is collected while %s; if you want their dependents collected, start again with --allow-mass-collection", Escape(loss.Error()))
	}
	return "Warning: nothing is collected until the server answers again: " + Escape(Shorten(err.Error()))
}

// EventWritten is a line about the Event of a reference to an owner in another namespace, which may
// have been refused.
func EventWritten(dependent graph.Ref, err error) string {
	object := Quoted(dependent)
	if err != nil {
		return fmt.Sprintf("warning: writing an event about %s: %s", object, Escape(err.Error()))
	}
	return object + ": event OwnerRefInvalidNamespace written"
}
