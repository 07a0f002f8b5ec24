package render

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"github.com/moby/term"
	"k8s.io/cli-runtime/pkg/printers"
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
	return Style{Palette: NewPalette(when, out), Wide: wide, Width: terminalWidth(out), ASCII: asciiLocale(os.Getenv)}
}

// asciiLocale reports whether the locale has no UTF-8, as LC_ALL=C. Where none is set, as in most
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

// terminalWidth is how many columns the terminal has that out is, 0 if it is none or does not say.
func terminalWidth(out io.Writer) int {
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

// When reports whether output is coloured.
type When string

// The values of --color.
const (
	Auto   When = "auto"
	Always When = "always"
	Never  When = "never"
)

// ParseColor reads a value of --color.
func ParseColor(s string) (When, error) {
	switch w := When(s); w {
	case Auto, Always, Never:
		return w, nil
	}
	return "", fmt.Errorf("--color must be auto, always or never, not %q", s)
}

// Palette colours what has a meaning. Its zero value leaves text as it is.
type Palette struct{ kind, dim, warn, bad *color.Color }

// NewPalette decides once whether what is written to out is coloured: on a terminal, unless
// NO_COLOR or TERM=dumb say otherwise. The color package's own global decision looks at stdout only
// and is not used.
func NewPalette(when When, out io.Writer) Palette {
	if when == Never || when == Auto && !printers.AllowsColorOutput(out) {
		return Palette{}
	}
	enabled := func(attributes ...color.Attribute) *color.Color {
		c := color.New(attributes...)
		c.EnableColor()
		return c
	}
	return Palette{
		kind: enabled(color.FgCyan),
		dim:  enabled(color.Faint),
		warn: enabled(color.FgYellow),
		bad:  enabled(color.FgRed),
	}
}

func paint(c *color.Color, s string) string {
	if c == nil || s == "" {
		return s
	}
	return c.Sprint(s)
}

// severity is the colour of a finding.
func (p Palette) severity(severity string) *color.Color {
	switch severity {
	case "error":
		return p.bad
	case "warning":
		return p.warn
	}
	return p.dim
}
