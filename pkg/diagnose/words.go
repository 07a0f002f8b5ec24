package diagnose

import (
	"fmt"
	"strings"
	"time"
)

// joinOr joins names as a sentence does, a few of them.
func joinOr(names []string) string { return join(names, " or ") }

// joinAnd joins names as a sentence does, a few of them.
func joinAnd(names []string) string { return join(names, " and ") }

// maxNamed is how many of a list are named.
const maxNamed = 5

func join(names []string, last string) string {
	if n := len(names) - maxNamed; n > 0 {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", n)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + last + names[len(names)-1]
}

// ago says how long something is past, in the largest unit of which it is at least two.
func ago(d time.Duration) string {
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

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// plural picks the form of a word that goes with a number.
func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
