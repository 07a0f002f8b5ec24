package finalizer

import (
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Hold is where an object says that the actor waits for somebody else before it goes on.
type Hold struct {
	// Items leads to the items of a list of the object, of which each that meets Each holds it.
	Items link.Path        `json:"items,omitzero"`
	Each  []link.Condition `json:"each,omitempty"`
	// Approval is an annotation of the object with the time at which somebody let the actor go on,
	// which counts if it is not before the deletion.
	Approval string `json:"approval,omitempty"`
	// Waits is what the actor waits for, as a clause, and Remedy what to do, in sentences. {held}
	// stands for what holds the object, and {actor} for the actor.
	Waits  string `json:"waits"`
	Remedy string `json:"remedy"`
}

// Holding are the items of the object that hold it.
func (h Hold) Holding(object map[string]any) []map[string]any {
	var all []map[string]any
	for _, item := range h.Items.Objects(object) {
		if _, met := link.AnyMet([][]link.Condition{h.Each}, item); met {
			all = append(all, item)
		}
	}
	return all
}

func (h Hold) check() []error {
	errs := []error{clause("waits", h.Waits), text("remedy", h.Remedy)}
	if h.Items.IsZero() {
		errs = append(errs, errors.New(`"items" is missing`))
	}
	for _, err := range link.CheckAlternatives([][]link.Condition{h.Each}) {
		errs = append(errs, fmt.Errorf(`"each": %w`, err))
	}
	return errs
}
