package render

import (
	"cmp"
	"io"
	"os"
	"strings"

	"github.com/moby/term"
)

// Style is how a table is written.
type Style struct {
	Palette
	// Wide adds columns, and shortens nothing.
	Wide bool
	// Width is how many columns the terminal has, 0 for no bound: what is not written to a terminal
	// is never shortened to fit it.
	Width int
	// ASCII draws with ASCII characters only.
	ASCII bool
	// NoHeaders leaves out the first line of a table.
	NoHeaders bool
	// Called is what was typed to run the program, which notes name; empty for kubectl gc.
	Called string
	// Cluster is the one that a table is about, of several; empty for the only one.
	Cluster string
}

// NewStyle decides on colour and width for what is written to out.
func NewStyle(when When, out io.Writer, wide bool) Style {
	return Style{Palette: NewPalette(when, out), Wide: wide, Width: TerminalWidth(out), ASCII: asciiLocale(os.Getenv)}
}

// asciiLocale says whether the locale has no UTF-8, as LC_ALL=C. Where none is set, as in most
// containers, that says nothing of the terminal.
func asciiLocale(getenv func(string) string) bool {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	encoding := strings.ReplaceAll(strings.ToLower(locale), "-", "")
	return locale != "" && !strings.Contains(encoding, "utf8")
}

// asASCII has for each character that is drawn one as wide.
var asASCII = strings.NewReplacer("├", "|", "└", "`", "│", "|", "─", "-", "┄", ".", "…", "~")

// drawn is a text in characters that the locale has.
func (s Style) drawn(text string) string {
	if s.ASCII {
		return asASCII.Replace(text)
	}
	return text
}

// TerminalWidth is how many columns the terminal has that out is, 0 if it is none or does not say.
func TerminalWidth(out io.Writer) int {
	fd, terminal := term.GetFdInfo(out)
	if !terminal {
		return 0
	}
	size, err := term.GetWinsize(fd)
	if err != nil {
		return 0
	}
	return int(size.Width)
}

// gap is the space between two columns.
const gap = 3
