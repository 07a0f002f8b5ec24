package core

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Command is a command line about an object; the arguments may contain OBJECT, which stands for
// TYPE/NAME of it, with its namespace behind. It is empty if OBJECT is of no type that is served.
func Command(args ...string) Step {
	return Step{Write: func(o v1alpha1.ObjectRef) string {
		var words []string
		for _, arg := range args {
			if arg != "OBJECT" {
				words = append(words, arg)
				continue
			}
			named := graph.Ref(o).Arguments()
			if named == nil {
				return ""
			}
			words = append(words, named...)
		}
		return phrase.Command(words...)
	}}
}

// JoinTypes writes several types as one argument.
func JoinTypes(types []string) string { return strings.Join(types, ",") }

// Describe is the command that shows what a cause lies in.
func Describe() Step {
	return Command("kubectl", "describe", "OBJECT").Doing("shows it, with its events")
}
