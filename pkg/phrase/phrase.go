// Package phrase writes lists, numbers and durations as a sentence does. It is pure.
package phrase

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Or joins names with "or". Of many it names the first MaxNamed and says how many there are
// besides.
func Or(names []string) string { return join(names, " or ") }

// And joins names with "and". Of many it names the first MaxNamed and says how many there are
// besides.
func And(names []string) string { return join(names, " and ") }

// MaxNamed is how many of a list are named.
const MaxNamed = 5

func join(names []string, last string) string {
	if len(names) < 2 || len(names) > MaxNamed {
		return FirstFew(names, MaxNamed)
	}
	return strings.Join(names[:len(names)-1], ", ") + last + names[len(names)-1]
}

// FirstFew names all if they are no more than most; otherwise the first of them, and how many there
// are besides.
func FirstFew(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// SortedFew sorts names, each once, and names the first few: never fewer than three, and never only
// one less than all.
func SortedFew(names []string) string {
	const most = 4
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > most {
		return FirstFew(names, most-1)
	}
	return FirstFew(names, most)
}

// Shorten keeps a server's message, which can be a whole page, to what fits a few lines of a
// terminal.
func Shorten(message string) string {
	const most = 300
	if r := []rune(message); len(r) > most {
		return string(r[:most]) + "…"
	}
	return message
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

// More says of a list that n more are not named, as a format says it; empty if all are.
func More(format string, n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// Sentence makes a sentence of a clause: with a capital letter and a full stop. It is empty if the
// clause is. A path that a clause begins with, as status.message, stays as it is.
func Sentence(clause string) string {
	if clause == "" {
		return ""
	}
	if first, rest, _ := strings.Cut(clause, " "); rest != "" && strings.Contains(strings.TrimSuffix(first, "."), ".") {
		return strings.TrimSuffix(clause, ".") + "."
	}
	return strings.ToUpper(clause[:1]) + strings.TrimSuffix(clause[1:], ".") + "."
}

// Words are what of says of each of some items.
func Words[T any](items []T, of func(T) string) []string {
	var words []string
	for _, item := range items {
		words = append(words, of(item))
	}
	return words
}

// Union returns some items, and after them those of more that are not among them.
func Union[T comparable](items, more []T) []T {
	all := slices.Clone(items)
	for _, item := range more {
		if !slices.Contains(all, item) {
			all = append(all, item)
		}
	}
	return all
}

// Escape makes text that an object or a server supplied safe to print on one line of a terminal:
// control characters, the C1 set and the marks that reverse the direction of writing are spelled
// out (kubernetes/kubernetes#101695).
func Escape(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s { // invalid bytes come as U+FFFD
		switch {
		case r == 0x1b:
			b.WriteString("^[")
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unsafeRune(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// EscapeLines is Escape for text whose line breaks are meant.
func EscapeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Escape(lines[i])
	}
	return strings.Join(lines, "\n")
}

func unsafeRune(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0x061c, r >= 0x200e && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		// line breaks, bidirectional controls
		return true
	}
	return false
}
