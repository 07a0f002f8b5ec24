package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Transcripts reads the transcripts that the scripts below a folder expect, by their names: that of
// the script, a slash, and that of its file. A file is a transcript if it begins with a command
// behind a "$".
func Transcripts(scripts fs.FS) (map[string]string, error) {
	all := map[string]string{}
	err := fs.WalkDir(scripts, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".txtar" {
			return err
		}
		text, err := fs.ReadFile(scripts, file)
		if err != nil {
			return err
		}
		for _, section := range txtar.Parse(text).Files {
			if strings.HasPrefix(string(section.Data), "$ ") {
				all[strings.TrimSuffix(path.Base(file), ".txtar")+"/"+section.Name] = string(section.Data)
			}
		}
		return nil
	})
	return all, err
}

// shown is the place of a transcript on a page: a comment that names it, and the block that shows
// it.
var shown = regexp.MustCompile("(?s)<!-- transcript: (\\S+) -->\n(?:```console\n.*?\n```\n)?")

// WithTranscripts returns a page with each block that a comment names a transcript for as the
// transcripts have it.
func WithTranscripts(page string, transcripts map[string]string) (string, error) {
	var errs []error
	page = shown.ReplaceAllStringFunc(page, func(block string) string {
		name := shown.FindStringSubmatch(block)[1]
		text, ok := transcripts[name]
		if !ok {
			errs = append(errs, fmt.Errorf("no script has the transcript %s", name))
			return block
		}
		return "<!-- transcript: " + name + " -->\n```console\n" + text + "```\n"
	})
	return page, errors.Join(errs...)
}

// Shown returns the names of the transcripts that a page shows, and the page without them.
func Shown(page string) (names []string, rest string) {
	for _, match := range shown.FindAllStringSubmatch(page, -1) {
		names = append(names, match[1])
	}
	return names, shown.ReplaceAllString(page, "")
}
