package docs

import (
	"errors"
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
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

// IsPicture reports whether a transcript has colors. It is then shown as a picture, and not as
// text.
func IsPicture(transcript string) bool { return strings.Contains(transcript, escape+"[") }

// Pictures draws what pages show: each place with the transcripts that it names, several as a moving
// picture.
func Pictures(transcripts map[string]string, pages ...string) ([]Picture, error) {
	var pictures []Picture
	var errs []error
	drawn := map[string]bool{}
	for _, page := range pages {
		for _, place := range pictured.FindAllStringSubmatch(page, -1) {
			names := strings.Fields(place[1])
			if file := pictureFile(names); !drawn[file] {
				drawn[file] = true
				text, err := draw(names, transcripts)
				if err != nil {
					errs = append(errs, fmt.Errorf("picture %s: %w", place[1], err))
				}
				pictures = append(pictures, Picture{File: file, Text: text})
			}
		}
	}
	return pictures, errors.Join(errs...)
}

// draw draws transcripts that a place names.
func draw(names []string, transcripts map[string]string) (string, error) {
	var screens []screen
	for _, name := range names {
		s, err := readScreen(transcripts[name])
		if err != nil {
			return "", fmt.Errorf("transcript %s: %w", name, err)
		}
		screens = append(screens, s)
	}
	if len(screens) == 1 {
		return picture(screens[0]), nil
	}
	return cast(screens), nil
}

// pictureFile is the file of the picture of transcripts: why.svg of why/colors, and delete-why.svg of
// delete/colors and why/colors.
func pictureFile(names []string) string {
	var dirs []string
	for _, name := range names {
		if dir := path.Dir(name); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, "-") + ".svg"
}

// pictured is the place of a picture on a page: a comment that names transcripts, and the line that
// shows them.
var pictured = regexp.MustCompile("<!-- picture: (\\S+(?: \\S+)*) -->\n(?:!\\[[^\n]*\n)?")

// WithPictures returns a page with a picture behind each comment that names transcripts, of which one
// at least has colors. Images is the way from the page to the folder of the pictures.
func WithPictures(page, images string, transcripts map[string]string) (string, error) {
	var errs []error
	page = pictured.ReplaceAllStringFunc(page, func(place string) string {
		names := strings.Fields(pictured.FindStringSubmatch(place)[1])
		if !slices.ContainsFunc(names, func(name string) bool { return IsPicture(transcripts[name]) }) {
			errs = append(errs, fmt.Errorf("no script has the transcripts %v with colors", names))
			return place
		}
		var commands []string
		for _, name := range names {
			command, _, _ := strings.Cut(strings.TrimPrefix(transcripts[name], "$ "), "\n")
			commands = append(commands, command)
		}
		return fmt.Sprintf("<!-- picture: %s -->\n![What %s prints](%s)\n", strings.Join(names, " "),
			strings.Join(commands, ", and then "), path.Join(images, pictureFile(names)))
	})
	return page, errors.Join(errs...)
}

// ShownPictures returns the names of the transcripts whose pictures a page shows.
func ShownPictures(page string) []string {
	var names []string
	for _, match := range pictured.FindAllStringSubmatch(page, -1) {
		names = append(names, strings.Fields(match[1])...)
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

// screen is what stands on a terminal: the elements of its lines, none for an empty one, and how many
// columns the first and the widest have.
type screen struct {
	lines         []string
	first, widest int
}

// readScreen reads a transcript. A color that it does not know is an error.
func readScreen(transcript string) (screen, error) {
	var s screen
	for i, line := range strings.Split(strings.TrimRight(transcript, "\n"), "\n") {
		width := utf8.RuneCountInString(colorCode.ReplaceAllString(line, ""))
		s.widest = max(s.widest, width)
		if i == 0 {
			s.first = width
		}
		spans, err := coloredSpans(line)
		if err != nil {
			return s, fmt.Errorf("line %d: %w", i+1, err)
		}
		if width == 0 {
			s.lines = append(s.lines, "")
			continue
		}
		class := ""
		if strings.HasPrefix(line, "$ ") {
			class = ` class="typed"`
		}
		// The length holds in all fonts, so that columns stand below each other.
		s.lines = append(s.lines, fmt.Sprintf("<text x=\"%d\" y=\"%d\" textLength=\"%d\" xml:space=\"preserve\"%s>%s</text>\n", margin,
			margin+lineHeight*i+14, letterWidth*width, class, spans))
	}
	return s, nil
}

// picture draws a screen.
func picture(s screen) string {
	return terminal(s.widest, len(s.lines), "", strings.Join(s.lines, ""))
}

// terminal draws a terminal of so many columns and lines, with a style and the elements on it.
func terminal(columns, lines int, style, elements string) string {
	w, h := 2*margin+letterWidth*columns, 2*margin+lineHeight*lines
	return fmt.Sprintf(
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<style>%s</style>\n<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n%s</svg>\n",
		w, h, w, h, pictureStyle+style, w-1, h-1, elements)
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
