package docs

import (
	"errors"
	"fmt"
	"html"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Picture is a transcript with colors, drawn as a terminal.
type Picture struct {
	// File is the name of its file in docs/images.
	File string
	// Text is an SVG.
	Text string
}

// escape stands in a transcript for the character that a color begins with.
const escape = "␛"

// IsPicture says whether a transcript has colors. It is then shown as a picture, and not as text.
func IsPicture(transcript string) bool { return strings.Contains(transcript, escape+"[") }

// Pictures draws all transcripts that have colors.
func Pictures(transcripts map[string]string) ([]Picture, error) {
	var pictures []Picture
	var errs []error
	for name, transcript := range transcripts {
		if !IsPicture(transcript) {
			continue
		}
		text, err := picture(transcript)
		if err != nil {
			errs = append(errs, fmt.Errorf("transcript %s: %w", name, err))
		}
		pictures = append(pictures, Picture{File: pictureFile(name), Text: text})
	}
	return pictures, errors.Join(errs...)
}

// pictureFile is the file of a transcript's picture: why.svg of why/colors.
func pictureFile(transcript string) string { return path.Dir(transcript) + ".svg" }

// pictured is the place of a picture on a page: a comment that names the transcript, and the line
// that shows it.
var pictured = regexp.MustCompile("<!-- picture: (\\S+) -->\n(?:!\\[[^\n]*\n)?")

// WithPictures returns a page with a picture behind each comment that names a transcript with
// colors. Images is the way from the page to the folder of the pictures.
func WithPictures(page, images string, transcripts map[string]string) (string, error) {
	var errs []error
	page = pictured.ReplaceAllStringFunc(page, func(place string) string {
		name := pictured.FindStringSubmatch(place)[1]
		if !IsPicture(transcripts[name]) {
			errs = append(errs, fmt.Errorf("no script has the transcript %s with colors", name))
			return place
		}
		command, _, _ := strings.Cut(strings.TrimPrefix(transcripts[name], "$ "), "\n")
		return fmt.Sprintf("<!-- picture: %s -->\n![What %s prints](%s)\n", name, command,
			path.Join(images, pictureFile(name)))
	})
	return page, errors.Join(errs...)
}

// ShownPictures returns the names of the transcripts whose pictures a page shows.
func ShownPictures(page string) []string {
	var names []string
	for _, match := range pictured.FindAllStringSubmatch(page, -1) {
		names = append(names, match[1])
	}
	return names
}

// The measures of a picture, in pixels of its own.
const (
	letterWidth = 8
	lineHeight  = 19
	margin      = 16
)

// pictureStyle has the colors of a terminal, which are others in the dark. A picture has its own
// background, so that it can be read on any page.
const pictureStyle = `
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #1f2328 }
rect { fill: #ffffff; stroke: #d0d7de }
.faint { fill: #59636e } .red { fill: #b3101f } .yellow { fill: #8a4600 } .cyan { fill: #05606e } .typed { font-weight: bold }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } rect { fill: #0d1117; stroke: #3d444d }
.faint { fill: #9198a1 } .red { fill: #ff8b84 } .yellow { fill: #e3b341 } .cyan { fill: #56d4dd }
}
`

// colorClasses are the classes of the colors that the commands print, by their codes; those that
// end one have none.
var colorClasses = map[string]string{"0": "", "22": "", "39": "", "2": "faint", "31": "red", "33": "yellow",
	"36": "cyan"}

var colorCode = regexp.MustCompile(escape + `\[([0-9;]*)m`)

// picture draws a transcript as a terminal. A color that it does not know is an error.
func picture(transcript string) (string, error) {
	lines := strings.Split(strings.TrimRight(transcript, "\n"), "\n")
	var b strings.Builder
	widest := 0
	for i, line := range lines {
		width := utf8.RuneCountInString(colorCode.ReplaceAllString(line, ""))
		widest = max(widest, width)
		spans, err := coloredSpans(line)
		if err != nil {
			return "", fmt.Errorf("line %d: %w", i+1, err)
		}
		if width == 0 {
			continue
		}
		class := ""
		if strings.HasPrefix(line, "$ ") {
			class = ` class="typed"`
		}
		// The length holds in all fonts, so that columns stand below each other.
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" xml:space=\"preserve\"%s>%s</text>\n", margin,
			margin+lineHeight*i+14, letterWidth*width, class, spans)
	}
	w, h := 2*margin+letterWidth*widest, 2*margin+lineHeight*len(lines)
	return fmt.Sprintf(
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<style>%s</style>\n<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n%s</svg>\n",
		w, h, w, h, pictureStyle, w-1, h-1, b.String()), nil
}

// coloredSpans are the parts of a line, each in its color. A color ends with its line.
func coloredSpans(line string) (string, error) {
	var b strings.Builder
	class, from := "", 0
	write := func(text string) {
		switch {
		case text == "":
		case class == "":
			b.WriteString(html.EscapeString(text))
		default:
			fmt.Fprintf(&b, "<tspan class=%q>%s</tspan>", class, html.EscapeString(text))
		}
	}
	for _, at := range colorCode.FindAllStringSubmatchIndex(line, -1) {
		write(line[from:at[0]])
		known := false
		if class, known = colorClasses[line[at[2]:at[3]]]; !known {
			return "", fmt.Errorf("the color %s has no class", line[at[2]:at[3]])
		}
		from = at[1]
	}
	write(line[from:])
	return b.String(), nil
}
