package testcluster

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// commandLine is one of kubectl's.
type commandLine struct {
	verb  string
	words []string          // what is no flag, without the verb
	flags map[string]string // by their long names; "true" for one without a value
	stdin string
}

// shorthands are the flags that tests shorten, and valued those whose value may be the next word.
var (
	shorthands = map[string]string{"-n": "namespace", "-o": "output", "-p": "patch", "-f": "filename"}
	valued     = []string{"namespace", "output", "patch", "filename"}
)

// parse takes a command line apart. It says no if the verb is not known, or a flag is not among
// those that the verb is known with, or is given twice.
func parse(args []string) (l commandLine, ok bool) {
	if len(args) == 0 || verbs[args[0]].do == nil {
		return l, false
	}
	l = commandLine{verb: args[0], flags: map[string]string{}}
	for rest := args[1:]; len(rest) > 0; rest = rest[1:] {
		word := rest[0]
		if word == "-" || !strings.HasPrefix(word, "-") {
			l.words = append(l.words, word)
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if long := shorthands[word]; long != "" {
			name = long
		}
		if !given && slices.Contains(valued, name) && len(rest) > 1 {
			rest, value, given = rest[1:], rest[1], true
		}
		if !given {
			value = "true"
		}
		if _, twice := l.flags[name]; twice || !slices.Contains(verbs[l.verb].flags, name) {
			return l, false
		}
		l.flags[name] = value
	}
	return l, true
}

func (l commandLine) namespace() string {
	if ns := l.flags["namespace"]; ns != "" {
		return ns
	}
	return metav1.NamespaceDefault
}

func (l commandLine) is(flag, value string) bool { return l.flags[flag] == value }
