package finalizer

import (
	"regexp"
	"strings"
)

// stepPlaceholder is a placeholder of a command, where other braces are those of a JSON path.
var stepPlaceholder = regexp.MustCompile(`\{[a-z]+\}`)

// bare is what a shell takes for one word as it is.
var bare = regexp.MustCompile(`^[A-Za-z0-9._/@%+=:-]+$`)

// For returns the command line for an object, whose type is written as kubectl takes it: resource.group. What a shell would
// not take for one word is quoted.
func (s Step) For(resource, namespace, name string) string {
	return stepPlaceholder.ReplaceAllStringFunc(s.Command, func(p string) string {
		value := map[string]string{"{type}": resource, "{namespace}": namespace, "{name}": name}[p]
		if bare.MatchString(value) {
			return value
		}
		return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	})
}
