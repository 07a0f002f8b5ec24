package render

import (
	"bufio"
	"bytes"
	"io"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// writeTable writes rows as kubectl get does: left-aligned columns three spaces apart, no lines, nothing wrapped and no
// spaces at the end of a line.
func writeTable(w io.Writer, header []string, rows [][]string) error {
	out := &trimmer{w: bufio.NewWriter(w)}
	padding := tw.Padding{Right: "   ", Overwrite: true}
	table := tablewriter.NewTable(out,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
		})),
		tablewriter.WithHeaderAlignment(tw.AlignLeft), tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithPadding(padding),
	)
	table.Header(header)
	if err := table.Bulk(rows); err != nil {
		return err
	}
	if err := table.Render(); err != nil {
		return err
	}
	return out.flush()
}

// trimmer removes the spaces at the end of each line.
type trimmer struct {
	w    *bufio.Writer
	line []byte
}

// Write implements io.Writer.
func (t *trimmer) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			t.line = append(t.line, p...)
			return n, nil
		}
		t.line = append(t.line, p[:i]...)
		if _, err := t.w.Write(append(bytes.TrimRight(t.line, " "), '\n')); err != nil {
			return 0, err
		}
		t.line, p = t.line[:0], p[i+1:]
	}
}

func (t *trimmer) flush() error {
	if _, err := t.w.Write(bytes.TrimRight(t.line, " ")); err != nil {
		return err
	}
	return t.w.Flush()
}
