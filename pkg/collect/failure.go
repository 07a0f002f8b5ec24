package collect

import "fmt"

// Errors are what the writes among some events met.
func Errors(events []Event) []error {
	var errs []error
	for _, e := range events {
		if e.Err != nil {
			errs = append(errs, Failure(e))
		}
	}
	return errs
}

// Failure is the error of an event, which names the write.
func Failure(e Event) error {
	return fmt.Errorf("%s %s %q: %w", e.Action.Verb, e.Action.Object.Resource, e.Action.Object.Name, e.Err)
}
