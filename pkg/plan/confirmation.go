package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Confirmation is an object whose deletion does not go on until somebody confirms it.
type Confirmation struct {
	Object    graph.Ref
	Finalizer string
	// Waits says who waits for it, and why, as a clause.
	Waits string
	// Annotation is the key of the annotation that confirms it. Its value is the time, which is not
	// before the deletion.
	Annotation string
}

// Command is the command that confirms the deletion once it has begun.
func (c Confirmation) Command() string {
	words := append([]string{"kubectl", "annotate"}, c.Object.Arguments()...)
	return phrase.Command(append(words, c.Annotation+"=")...) + `"$(date -u +%Y-%m-%dT%H:%M:%SZ)" --overwrite`
}
