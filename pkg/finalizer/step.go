package finalizer

import (
	"regexp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// stepPlaceholder is a placeholder of a command, where other braces are those of a JSON path.
var stepPlaceholder = regexp.MustCompile(`\{[a-z]+\}`)

// For returns the command line for an object, whose type is written as kubectl takes it:
// resource.group. What a shell would not take for one word is quoted. A name that a program would
// take for an option is left out.
func (s Step) For(resource, namespace, name string) string {
	return stepPlaceholder.ReplaceAllStringFunc(s.Command, func(p string) string {
		value := map[string]string{"{type}": resource, "{namespace}": namespace, "{name}": name}[p]
		if strings.HasPrefix(value, "-") {
			return p
		}
		return phrase.ShellWord(value)
	})
}
