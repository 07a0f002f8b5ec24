package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// mostMarkdown bounds the table of a plan in Markdown, in bytes: a comment has at most 65,536
// characters at GitHub.
const mostMarkdown = 50_000

// PlanMarkdown writes a plan as a comment of a review: what it comes to and what is bad of it first,
// the rest folded. Text of objects cannot become Markdown.
func PlanMarkdown(w io.Writer, title string, p Plan, digest string) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "### %s\n\n**%s**\n\n", inMarkdown(title), inMarkdown(p.Summary()))
	remarks := p.remarks()
	for _, bad := range []bool{true, false} {
		for _, r := range remarks {
			mark := ""
			if r.bad {
				mark = "⚠️ "
			}
			if r.bad == bad {
				fmt.Fprintf(&out, "- %s%s\n", mark, inMarkdown(r.text))
			}
		}
	}
	var table bytes.Buffer
	if err := p.tree(&table, Style{Palette: NewPalette(Never, nil)}); err != nil {
		return err
	}
	text, cut := table.String(), ""
	if len(text) > mostMarkdown {
		text = text[:strings.LastIndexByte(text[:mostMarkdown], '\n')+1]
		cut = fmt.Sprintf("… and %d more lines\n", strings.Count(table.String(), "\n")-strings.Count(text, "\n"))
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(&out, "\n<details><summary>What happens to each object</summary>\n\n%s\n%s%s%s\n\n</details>\n\ndigest: %s\n", fence,
		text, cut, fence, inMarkdown(digest))
	_, err := w.Write(out.Bytes())
	return err
}

// inMarkdown escapes text so that it is shown as it is: nothing in it is markup, a link, or somebody
// who is mentioned.
func inMarkdown(text string) string {
	var b strings.Builder
	for _, r := range Escape(text) {
		switch {
		case r == '@' || r == '#': // before a space without width they name no user, issue or heading
			fmt.Fprintf(&b, "&#%d;&#8203;", r)
		case r < 0x80 && strings.ContainsRune("\\`*_{}[]<>()+!|~&$\"'", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	// A bare address becomes a link.
	return strings.NewReplacer("://", ":<!-- -->//", "www.", "www<!-- -->.").Replace(b.String())
}
