package cluster

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ErrBadName is of a name that no object can have, since it cannot stand in the path of a request:
// what names it names nothing. Every API server refuses it, so that asking would tell no more.
var ErrBadName = errors.New("no object can have this name")

// checkName returns ErrBadName with the reason if an object of a type cannot have the name.
func checkName(t graph.Type, name string) error {
	if problems := content.IsPathSegmentName(name); len(problems) > 0 {
		return fmt.Errorf("%s %q: %w: it %s", t.Resource, name, ErrBadName, problems[0])
	}
	return nil
}
