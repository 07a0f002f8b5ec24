package finalizer

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// lineError is a problem of one entry of a file.
type lineError struct {
	// line is where the entry begins, from 1; 0 if that is not known.
	line int
	err  error
}

func at(line int, err error) error { return &lineError{line, err} }

func (e *lineError) Error() string { return e.err.Error() }

func (e *lineError) Unwrap() error { return e.err }

// inFile names the file before a problem, and the line if it is known.
func inFile(name string, problem error) error {
	var located *lineError
	if errors.As(problem, &located) && located.line > 0 {
		return fmt.Errorf("%s:%d: %w", name, located.line, problem)
	}
	return fmt.Errorf("%s: %w", name, problem)
}

// lineOf returns the line on which an item of a list at the top of a file begins, 0 if it cannot be
// found. The decoder that fills in the entries reads JSON, which has lost it.
func lineOf(data []byte, list string, item int) int {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil || len(document.Content) == 0 {
		return 0
	}
	top := document.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if items := top[i+1].Content; top[i].Value == list && item < len(items) {
			return items[item].Line
		}
	}
	return 0
}
