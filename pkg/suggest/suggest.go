// Package suggest finds the words nearest to a mistyped one. It is pure.
package suggest

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// nearEnough is how many letters of a word may be wrong; cobra takes the same for commands.
	nearEnough = 2
	// Most is how many words are suggested.
	Most = 3
)

// Words are the words nearest to a mistyped one. However many are considered, only the nearest are
// kept.
type Words struct {
	word string
	near []suggestion
}

type suggestion struct {
	word     string
	distance int
}

// New returns the words near to one that was typed; none has been considered yet.
func New(word string) *Words { return &Words{word: strings.ToLower(word)} }

// Consider takes a word in if it is near, or if what was typed is how it begins.
func (s *Words) Consider(word string) {
	if word == "" || s.word == "" {
		return
	}
	lower := strings.ToLower(word)
	found := suggestion{word, distance(s.word, lower)}
	// Of three letters, two wrong ones are two that changed places, or another word.
	another := len(s.word) < 4 && found.distance == nearEnough && lower[0] != s.word[0]
	if found.distance > nearEnough || another {
		if !strings.HasPrefix(lower, s.word) {
			return
		}
		found.distance = len(lower) - len(s.word)
	}
	at, known := slices.BinarySearchFunc(s.near, found, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.word, b.word))
	})
	if known || at == Most {
		return
	}
	s.near = slices.Insert(s.near, at, found)
	s.near = s.near[:min(len(s.near), Most)]
}

// Hint asks whether one of the nearest words was meant. It is empty if none is near.
func (s *Words) Hint() string {
	if len(s.near) == 0 {
		return ""
	}
	words := make([]string, len(s.near))
	for i, near := range s.near {
		words[i] = near.word
	}
	return "did you mean " + strings.Join(words, " or ") + "?"
}

// DidYouMean suggests which of a few words was meant; empty if none is near.
func DidYouMean(word string, candidates []string) string {
	s := New(word)
	for _, c := range candidates {
		s.Consider(c)
	}
	return s.Hint()
}

// distance is how many letters have to be added, left out or changed to make one word of the other,
// as far as it is near; of words that are not near it only says that they are not. It is called for
// each of a hundred thousand names.
func distance(a, b string) int {
	const far = nearEnough + 1
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > nearEnough {
		return far
	}
	// What both begin and end with decides nothing, and is most of most names.
	for len(a) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	// Of the usual table only the cells that are no further than nearEnough from the diagonal can
	// hold a small number.
	const width = 2*nearEnough + 1
	var row [width]int
	for k := range row {
		row[k] = max(k-nearEnough, 0) // far enough below where the word has not begun
		if k < nearEnough {
			row[k] = far
		}
	}
	for i := range len(a) {
		var next [width]int
		least := far
		for k := range next {
			j := i + 1 + k - nearEnough // how much of b
			switch {
			case j < 0 || j > len(b):
				next[k] = far
				continue
			case j == 0:
				next[k] = i + 1
			default:
				changed := row[k]
				if a[i] != b[j-1] {
					changed++
				}
				next[k] = changed
				if k > 0 {
					next[k] = min(next[k], next[k-1]+1)
				}
				if k+1 < width {
					next[k] = min(next[k], row[k+1]+1)
				}
			}
			least = min(least, next[k])
		}
		if least >= far {
			return far
		}
		row = next
	}
	return min(row[len(b)-len(a)+nearEnough], far)
}
