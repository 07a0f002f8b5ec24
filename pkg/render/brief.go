package render

import (
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// leastWord is how many columns of a long word are left, rather than leave out other words, and
// leastOfFewer where some are left out all the same.
const leastWord, leastOfFewer = 9, 12

// brief shortens a text without colors to so many columns: a name in its middle, since names begin
// with what they are of and end in what tells them apart; a sentence at its end, or in its longest
// word.
func brief(text string, to int) string {
	if width(text) <= to {
		return text
	}
	words, least, more := strings.Split(text, " "), leastWord, ""
	for ; len(words) > 1; words, least, more = words[:len(words)-1], leastOfFewer, "…" {
		longest := 0
		for i, word := range words {
			if width(word) > width(words[longest]) {
				longest = i
			}
		}
		kept := strings.Join(words, " ")
		excess := width(kept+more) - to
		switch left := width(words[longest]) - excess; {
		case excess <= 0:
			return strings.TrimRight(kept, ",;:") + more
		case left >= least:
			return strings.Replace(kept, words[longest], briefWord(words[longest], left), 1) + more
		}
	}
	if first := strings.TrimRight(words[0], ",;:") + more; width(first) <= to {
		return first
	}
	return middle(words[0], to)
}

// briefWord shortens a word; of Kind/name the kind, where that is enough.
func briefWord(word string, to int) string {
	kind, name, ok := strings.Cut(word, "/")
	if room := to - 1 - width(name); ok && room > 1 && kind != strings.ToLower(kind) {
		return twwidth.Truncate(kind, room-1) + "…/" + name
	}
	return middle(word, to)
}

// middle leaves out of a word what is in its middle.
func middle(word string, to int) string {
	if width(word) <= to {
		return word
	}
	head := twwidth.Truncate(word, max(0, (to-1)/2))
	tail, rest := "", []rune(word)
	for i := len(rest) - 1; i >= 0 && width(string(rest[i:])) <= to-1-width(head); i-- {
		tail = string(rest[i:])
	}
	return head + "…" + tail
}

// briefRef shortens Kind/name: the name only as far as the kind is not the longer one.
func briefRef(ref string, to int) string {
	kind, name, ok := strings.Cut(ref, "/")
	if !ok || width(ref) <= to {
		return brief(ref, to)
	}
	room := to - 1
	ofKind := min(width(kind), max(room/2, room-width(name)))
	return middle(kind, ofKind) + "/" + middle(name, room-ofKind)
}
