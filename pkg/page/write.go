package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
)

//go:embed page.html
var document string

//go:embed page.css
var style string

//go:embed page.js
var script string

// dataMark is where the data stand in the document.
const dataMark = "{{data}}"

// Write writes the page. It holds the whole document but its data in memory, and no text of an
// object outside of the data and the title.
func Write(w io.Writer, p *Page) error {
	head, tail, ok := strings.Cut(document, dataMark)
	if !ok {
		return fmt.Errorf("the page has no place for its data: %s is missing in page.html", dataMark)
	}
	parts := strings.NewReplacer("{{title}}", html.EscapeString(p.Title), "{{policy}}", html.EscapeString(policy()),
		"{{style}}", style, "{{script}}", script)
	out := bufio.NewWriter(w)
	_, _ = parts.WriteString(out, head) // a writer that fails says so at the end
	// The encoder writes <, >, &, U+2028 and U+2029 as escapes, so that nothing in a text ends the
	// block or begins a comment.
	if err := json.NewEncoder(out).Encode(p); err != nil {
		return err
	}
	_, _ = parts.WriteString(out, tail)
	return out.Flush()
}

// policy is the page's Content-Security-Policy: its own script and style, and nothing else, from
// nowhere.
func policy() string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'",
		hash(script), hash(style))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
