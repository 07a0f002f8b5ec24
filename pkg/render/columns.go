package render

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// Columns are those of -o custom-columns: a header and a JSONPath each.
type Columns struct {
	header []string
	paths  []*printers.JSONPathPrinter
}

var (
	// relaxedPath is a JSONPath as kubectl takes it in columns: the braces and the first dot may be
	// missing.
	relaxedPath = regexp.MustCompile(`^\{\.?([^{}]+)\}$|^\.?([^{}]+)$`)
	// columnWord is a word of a file of columns.
	columnWord = regexp.MustCompile(`\S+`)
)

// ParseColumns reads columns as kubectl does: HEADER:PATH, with commas between them.
func ParseColumns(spec string) (*Columns, error) {
	if spec == "" {
		return nil, fmt.Errorf(
			"custom-columns format specified but no custom columns given, as in custom-columns=NAME:.ref.name")
	}
	c := &Columns{}
	for _, column := range strings.Split(spec, ",") {
		header, path, ok := strings.Cut(column, ":")
		if !ok || header == "" || path == "" {
			return nil, fmt.Errorf("unexpected custom-columns spec %q: want HEADER:PATH, as in NAME:.ref.name", column)
		}
		if err := c.add(header, path); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// ParseColumnsFile reads columns from a file as kubectl does: a line of headers, and below it a
// line of paths.
func ParseColumnsFile(text string) (*Columns, error) {
	headers, paths, _ := strings.Cut(text, "\n")
	h, p := columnWord.FindAllString(headers, -1), columnWord.FindAllString(paths, -1)
	if len(h) == 0 || len(h) != len(p) {
		return nil, fmt.Errorf(
			"number of headers (%d) and field specifications (%d) don't match: want a line of headers and below it a line with a path for each", len(h), len(p))
	}
	c := &Columns{}
	for i := range h {
		if err := c.add(h[i], p[i]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// LeadWith puts a column before the others.
func (c *Columns) LeadWith(header, path string) error {
	lead := &Columns{}
	if err := lead.add(header, path); err != nil {
		return err
	}
	c.header, c.paths = append(lead.header, c.header...), append(lead.paths, c.paths...)
	return nil
}

func (c *Columns) add(header, path string) error {
	m := relaxedPath.FindStringSubmatch(path)
	if m == nil {
		return fmt.Errorf("unexpected path string %q: want one such as .ref.name or {.ref.name}", path)
	}
	parsed, err := printers.NewJSONPathPrinter("{." + m[1] + m[2] + "}")
	if err != nil {
		return fmt.Errorf("column %s: %w", header, err)
	}
	parsed.AllowMissingKeys(true)
	c.header, c.paths = append(c.header, header), append(c.paths, parsed)
	return nil
}

// Write writes a row for each item, which is what JSON decodes to. A field that is not there is
// <none>, and several values have commas between them.
func (c *Columns) Write(w io.Writer, items []any, s Style) error {
	rows := make([][]string, len(items))
	for i, item := range items {
		rows[i] = make([]string, len(c.paths))
		for j, path := range c.paths {
			text, err := columnText(path, item)
			if err != nil {
				return fmt.Errorf("column %s: %w", c.header[j], err)
			}
			rows[i][j] = Escape(text)
		}
	}
	return s.writeTable(w, c.header, rows)
}

func columnText(path *printers.JSONPathPrinter, item any) (string, error) {
	results, err := path.FindResults(item)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, values := range results {
		for _, v := range values {
			if v.IsValid() && v.CanInterface() && v.Interface() != nil {
				texts = append(texts, fmt.Sprint(v.Interface()))
			}
		}
	}
	if len(texts) == 0 {
		return "<none>", nil
	}
	return strings.Join(texts, ","), nil
}
