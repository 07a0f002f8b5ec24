package diagnose

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// command is a command line about an object; the arguments may contain OBJECT, which stands for TYPE/NAME of it, with its namespace behind.
func command(args ...string) step {
	return step{write: func(o v1alpha1.ObjectRef) string {
		var words []string
		for _, arg := range args {
			if arg != "OBJECT" {
				words = append(words, quote(arg))
				continue
			}
			words = append(words, quote(typeOf(o)+"/"+o.Name))
			if o.Namespace != "" {
				words = append(words, "-n", quote(o.Namespace))
			}
		}
		return strings.Join(words, " ")
	}}
}

// typeOf writes the type of an object so that kubectl finds no other.
func typeOf(o v1alpha1.ObjectRef) string {
	group, _, grouped := strings.Cut(o.APIVersion, "/")
	if !grouped {
		return o.Resource
	}
	return o.Resource + "." + group
}

// quote writes a word so that a shell takes it for one. Objects supply names of finalizers, and what is printed is there to be copied.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// joinTypes writes several types as one argument.
func joinTypes(types []string) string { return strings.Join(types, ",") }
