// Package phrase writes lists, numbers and durations as a sentence does. It is pure.
package phrase

import (
	"fmt"
	"strings"
	"time"
)

// Or joins names with "or". Of many it names the first MaxNamed and says how many there are besides.
func Or(names []string) string { return join(names, " or ") }

// And joins names with "and". Of many it names the first MaxNamed and says how many there are besides.
func And(names []string) string { return join(names, " and ") }

// MaxNamed is how many of a list are named.
const MaxNamed = 5

func join(names []string, last string) string {
	if n := len(names) - MaxNamed; n > 0 {
		return strings.Join(names[:MaxNamed], ", ") + fmt.Sprintf(" and %d more", n)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + last + names[len(names)-1]
}

// Ago says how long something is past, in the largest unit of which it is at least two.
func Ago(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// Count writes a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Plural picks the form of a word that goes with a number.
func Plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Sentence makes a sentence of a clause: with a capital letter and a full stop. It is empty if the clause is.
func Sentence(clause string) string {
	if clause == "" {
		return ""
	}
	return strings.ToUpper(clause[:1]) + strings.TrimSuffix(clause[1:], ".") + "."
}
