package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// column is a column of a table, a row of which is an R.
type column[R any] struct {
	header string
	cell   func(R) string
	// shorten says when the cells are shortened so that the table fits: those with 1 before those
	// with 2, and never those with 0. They are coloured only afterwards, by color or paint.
	shorten int
	// least is what a row needs of a width, as long as another column can be left out; leastWidth
	// if it is nil.
	least func(R) int
	// drop says when the column is left out of a table that does not fit: 1 before 2, 0 never; and
	// beforeNames that this is before the columns with the greatest shorten are shortened.
	drop        int
	beforeNames bool
	// cut writes a cell in so many columns; brief if it is nil.
	cut   func(row R, to int) string
	color func(R) *color.Color
	// paint colours a part of a cell.
	paint func(row R, cell string) string
	// wide leaves the column out of a table that is not, and unused out of every table.
	wide, unused bool
}

// writeRows writes a table, and which columns are not in it for want of room.
func writeRows[R any](w io.Writer, s Style, columns []column[R], rows []R) error {
	var shown []column[R]
	if s.Cluster != "" {
		shown = append(shown, column[R]{header: "CLUSTER", cell: func(R) string { return Escape(s.Cluster) }})
	}
	for _, c := range columns {
		if !c.unused && (s.Wide || !c.wide) {
			shown = append(shown, c)
		}
	}
	cells := make([][]string, len(rows))
	for i, row := range rows {
		cells[i] = make([]string, len(shown))
		for j, c := range shown {
			cells[i][j] = c.cell(row)
		}
	}
	var dropped []string
	if s.Width > 0 && !s.Wide {
		shown, cells, dropped = fit(s, shown, rows, cells)
	}
	header := make([]string, len(shown))
	for j, c := range shown {
		header[j] = c.header
		for i, row := range rows {
			if c.paint != nil {
				cells[i][j] = c.paint(row, cells[i][j])
			}
			if c.color != nil {
				cells[i][j] = paint(c.color(row), cells[i][j])
			}
		}
	}
	if err := s.writeTable(w, header, cells); err != nil || len(dropped) == 0 {
		return err
	}
	return notes(w, s, nil, fmt.Sprintf("(the terminal is too narrow for the %s %s: -o wide shows %s)",
		phrase.Plural(len(dropped), "column", "columns"), phrase.And(dropped), phrase.Plural(len(dropped), "it", "them")))
}

// fit shortens cells, the widest column first, and leaves out columns, until the table is no wider
// than the terminal: lines that wrap make a table unreadable. It returns the columns that are left,
// their cells, and the headers of the others.
func fit[R any](s Style, columns []column[R], rows []R, cells [][]string) (
	shown []column[R], fitting [][]string, dropped []string,
) {
	shown = slices.Clone(columns)
	spans := make([]span, len(shown))
	for j, c := range shown {
		head := max(width(c.header), leastOfAll)
		spans[j] = span{natural: width(c.header), least: head, floor: head}
		for i, row := range rows {
			spans[j].natural = max(spans[j].natural, width(cells[i][j]))
			if c.least != nil {
				spans[j].least = max(spans[j].least, c.least(row))
			}
		}
		if c.least == nil {
			spans[j].least = max(head, leastWidth)
		}
	}
	widths := narrowed(s.Width, shown, spans, true)
	for widths == nil {
		next := -1
		for j, c := range shown {
			if c.drop > 0 && (next < 0 || c.drop < shown[next].drop) {
				next = j
			}
		}
		if next < 0 {
			widths = narrowed(s.Width, shown, spans, false)
			break
		}
		dropped = append(dropped, shown[next].header)
		shown, spans = slices.Delete(shown, next, next+1), slices.Delete(spans, next, next+1)
		for i := range cells {
			cells[i] = slices.Delete(cells[i], next, next+1)
		}
		widths = narrowed(s.Width, shown, spans, true)
	}
	return shown, shortened(shown, rows, cells, widths), dropped
}

// span is how wide a column would be, how wide it has to be as long as another can be left out, and
// how wide it has to be.
type span struct{ natural, least, floor int }

// narrowed are the widths of columns that fit a terminal; nil if none do and one can be left out.
func narrowed[R any](terminal int, columns []column[R], spans []span, comfortable bool) []int {
	last := lastShortened
	if comfortable && slices.ContainsFunc(columns, func(c column[R]) bool { return c.beforeNames }) {
		last-- // names stay whole
	}
	widths := make([]int, len(columns))
	excess := gap*(len(columns)-1) - terminal
	for j, s := range spans {
		widths[j] = s.natural
		excess += s.natural
	}
	for when := 1; when <= last; when++ {
		for excess > 0 {
			widest := -1
			for j, c := range columns {
				to := spans[j].floor
				if comfortable {
					to = spans[j].least
				}
				if c.shorten == when && widths[j] > to && (widest < 0 || widths[j] > widths[widest]) {
					widest = j
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
			excess--
		}
	}
	if excess > 0 && comfortable {
		return nil
	}
	return widths
}

const (
	// lastShortened is the greatest value of a column's shorten.
	lastShortened = 3
	// leastWidth is what a column is not shortened below, if it can be helped.
	leastWidth = 16
	// leastSentence is what a column of sentences is not shortened below.
	leastSentence = 20
	// leastOfAll is what no column is shortened below.
	leastOfAll = 8
)

// shortened are the cells of a table in so many columns each. Rows that differ as far as a shortened
// cell look different as far as that: of those that would look the same, each but the first has its
// number where something is left out. What tells them apart must not be a column further on, which
// says something else and may be dropped.
func shortened[R any](columns []column[R], rows []R, cells [][]string, widths []int) [][]string {
	short := make([][]string, len(cells))
	looks := map[string][]string{} // the rows that look the same as far as a column
	for i, row := range rows {
		short[i] = slices.Clone(cells[i])
		for j, c := range columns {
			if width(cells[i][j]) <= widths[j] {
				continue
			}
			short[i][j] = c.shortTo(row, cells[i][j], widths[j])
			whole, look := strings.Join(cells[i][:j+1], "\x00"), strings.Join(short[i][:j+1], "\x00")
			n := slices.Index(looks[look], whole)
			if n < 0 {
				n = len(looks[look])
				looks[look] = append(looks[look], whole)
			}
			if n > 0 {
				number := fmt.Sprint(n + 1)
				cut := c.shortTo(row, cells[i][j], widths[j]-len(number)-1)
				short[i][j] = strings.Replace(cut, "…", "…"+number+"…", 1)
			}
		}
	}
	return short
}

func (c column[R]) shortTo(row R, cell string, to int) string {
	if c.cut != nil {
		return c.cut(row, to)
	}
	return brief(cell, to)
}

// writeTable writes rows as kubectl get does: left-aligned columns three spaces apart, no lines,
// nothing wrapped and no spaces at the end of a line; without the header if the style says so.
// Trees have a hundred thousand rows, and each takes less than a microsecond for a cell;
// tablewriter's own renderer takes ten.
func (s Style) writeTable(w io.Writer, header []string, rows [][]string) error {
	if s.NoHeaders {
		header = make([]string, len(header)) // which takes no room
	}
	widths := columnWidths(header, rows)
	out := bufio.NewWriter(w)
	line := func(cells []string) error {
		last := len(cells) - 1
		for last > 0 && strings.Trim(cells[last], " ") == "" {
			last--
		}
		for i, cell := range cells[:last] {
			_, _ = out.WriteString(s.drawn(cell)) // a writer that fails says so at the end
			spaces(out, widths[i]-width(cell)+gap)
		}
		_, _ = out.WriteString(s.drawn(strings.TrimRight(cells[last], " ")))
		return out.WriteByte('\n')
	}
	if !s.NoHeaders {
		if err := line(header); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if err := line(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

// columnWidths are how wide the widest cell of each column is on a terminal.
func columnWidths(header []string, rows [][]string) []int {
	widths := make([]int, len(header))
	for i, cell := range header {
		widths[i] = width(cell)
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	return widths
}

func spaces(out *bufio.Writer, n int) {
	const some = "                                                                "
	for ; n > len(some); n -= len(some) {
		_, _ = out.WriteString(some)
	}
	_, _ = out.WriteString(some[:max(0, n)])
}

// width is how many columns of a terminal a text takes, colors left out. Most texts end in ASCII,
// of which each character takes one; what stands before, as the lines of a tree and a color, comes
// again and again, and the library remembers it.
func width(s string) int {
	from := len(s) // where the plain end begins
	for from > 0 && s[from-1] >= ' ' && s[from-1] < utf8.RuneSelf-1 {
		from--
	}
	if from == 0 {
		return len(s)
	}
	if s[from-1] == '\x1b' { // the rest of a color belongs to it
		end := strings.IndexByte(s[from:], 'm')
		if end < 0 {
			return twwidth.Width(s)
		}
		from += end + 1
	}
	return twwidth.Width(s[:from]) + len(s) - from
}

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
