package render

import (
	"strings"
	"testing"
)

// TestTableFitsTheTerminal: the columns that may be shortened are, the widest first, and only as
// far as needed; a wide table and one that goes to no terminal are left alone.
func TestTableFitsTheTerminal(t *testing.T) {
	header := []string{"NAME", "WAITS-FOR", "BECAUSE"}
	cells := func() [][]string {
		return [][]string{{strings.Repeat("n", 30), strings.Repeat("h", 25), strings.Repeat("b", 40)}, {"n", "h", "b"}}
	}
	width := func(s Style) (held, because int) {
		rows := cells()
		if fits := s.fit(header, rows, 1, 2); fits != (s.Wide || s.Width == 0 || s.Width > 67) {
			t.Errorf("width %d, wide %t: fits: %t", s.Width, s.Wide, fits)
		}
		if rows[1][1] != "h" || rows[1][2] != "b" {
			t.Errorf("short cells became %q", rows[1])
		}
		return len([]rune(rows[0][1])), len([]rune(rows[0][2]))
	}
	for _, test := range []struct {
		style         Style
		held, because int
	}{
		{Style{}, 25, 40},
		{Style{Width: 101}, 25, 40},
		{Style{Width: 100}, 25, 39},
		{Style{Width: 80}, 25, 19},
		{Style{Width: 70}, 18, 16},
		{Style{Width: 20}, 16, 16},
		{Style{Width: 20, Wide: true}, 25, 40},
	} {
		if held, because := width(test.style); held != test.held || because != test.because {
			t.Errorf("width %d, wide %t: columns of %d and %d, want %d and %d", test.style.Width, test.style.Wide, held, because,
				test.held, test.because)
		}
	}
}
