package render

import (
	"fmt"
	"io"

	"github.com/fatih/color"
	"k8s.io/cli-runtime/pkg/printers"
)

// When says whether output is coloured.
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
