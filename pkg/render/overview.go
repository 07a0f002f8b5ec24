package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// overview writes several causes in a line each, those first whose last command harms most.
func overview(w io.Writer, all []*trouble, s Style) {
	if len(all) < 2 {
		return
	}
	fmt.Fprintf(w, "%s, the most harmful to remove by hand first:\n", phrase.Count(len(all), "cause"))
	for _, t := range byHarm(all) {
		columns := s.columns()
		if columns > 0 {
			columns -= len(inset)
		}
		fmt.Fprintln(w, s.drawn(inset+t.line(columns)))
	}
	fmt.Fprintln(w)
}

// inset is before each line of the overview.
const inset = "  "

// byHarm are causes, those first whose last command harms most.
func byHarm(all []*trouble) []*trouble {
	return slices.SortedStableFunc(slices.Values(all), func(a, b *trouble) int { return cmp.Compare(b.harm(), a.harm()) })
}

// line is where the cause lies and what it is, in so many columns; 0 is for no bound.
func (t *trouble) line(columns int) string {
	line, code := t.upcoming()+firstOf(t.places[0].object, len(t.places))+t.reason(), t.code()
	if columns > 0 && width(line+code) > columns {
		line = brief(line, max(columns-width(code), leastWidth))
	}
	return line + code
}

// harm ranks what the last command puts at risk.
func (t *trouble) harm() int {
	if len(t.Steps) == 0 {
		return 0
	}
	risks := []string{"none", "", "leaks-external", "breaks-cluster", "data-loss"}
	return slices.Index(risks, t.Steps[len(t.Steps)-1].Risk)
}
