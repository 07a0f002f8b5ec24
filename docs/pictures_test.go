package docs_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/docs"
)

// TestPictures fails when a picture is not of what a script expects, when no page shows it, or when
// a page does not show it as make docs writes it.
func TestPictures(t *testing.T) {
	transcripts, err := docs.Transcripts(os.DirFS("../test/e2e/testdata/docs"))
	if err != nil {
		t.Fatal(err)
	}
	pictures, err := docs.Pictures(transcripts)
	if err != nil || len(pictures) == 0 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	for _, p := range pictures {
		if text, err := os.ReadFile(filepath.Join("images", p.File)); err != nil || string(text) != p.Text {
			t.Errorf("docs/images/%s is out of date, %v; run make docs", p.File, err)
		}
	}
	shown := map[string]bool{}
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		images := "images"
		if file == "../README.md" {
			images = "docs/images"
		}
		want, err := docs.WithPictures(string(text), images, transcripts)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if string(text) != want {
			t.Errorf("%s is out of date; run make docs\n%s", file, firstDifference(string(text), want))
		}
		for _, name := range docs.ShownPictures(string(text)) {
			shown[name] = true
		}
	}
	for name, text := range transcripts {
		if docs.IsPicture(text) && !shown[name] {
			t.Errorf("no page shows the picture %s", name)
		}
	}
}

// TestAPictureHasTheTextOfItsTranscript: all of it, in its colors, as XML, whatever it says.
func TestAPictureHasTheTextOfItsTranscript(t *testing.T) {
	const transcript = "$ kubectl gc tree\n␛[31mbad␛[0m <b>&amp; \"x\"\n\n  ␛[2mfaint␛[22m  ├─␛[36mcyan␛[0m\n"
	pictures, err := docs.Pictures(map[string]string{"one/colors": transcript, "one/plain": "$ true\n"})
	if err != nil || len(pictures) != 1 || pictures[0].File != "one.svg" {
		t.Fatalf("%v, %v", pictures, err)
	}
	var lines []string
	var colored []string
	class := ""
	for decoder := xml.NewDecoder(strings.NewReader(pictures[0].Text)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "text" {
				lines = append(lines, "")
			}
			if token.Name.Local == "tspan" {
				class = token.Attr[0].Value
			}
		case xml.EndElement:
			class = ""
		case xml.CharData:
			if len(lines) > 0 && (string(token) != "\n") {
				lines[len(lines)-1] += string(token)
				if class != "" {
					colored = append(colored, class+" "+string(token))
				}
			}
		}
	}
	if got, want := strings.Join(lines, "|"), "$ kubectl gc tree|bad <b>&amp; \"x\"|  faint  ├─cyan"; got != want {
		t.Errorf("the picture says %q, want %q", got, want)
	}
	if got, want := strings.Join(colored, "|"), "red bad|faint faint|cyan cyan"; got != want {
		t.Errorf("the colors are %q, want %q", got, want)
	}
	if _, err := docs.Pictures(map[string]string{"one/colors": "$ true\n␛[95mpink␛[0m\n"}); err == nil ||
		!strings.Contains(err.Error(), "the color 95") {
		t.Errorf("a color without a class: %v", err)
	}
	if _, err := docs.WithPictures("<!-- picture: two/colors -->\n", "images",
		map[string]string{"two/colors": "$ true\n"}); err == nil {
		t.Error("a picture of a transcript without colors is no error")
	}
}

// TestImagesAreSmall: whoever clones the repository has them all.
func TestImagesAreSmall(t *testing.T) {
	files, err := filepath.Glob("images/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no images: %v", err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() >= 200<<10 {
			t.Errorf("%s has %d bytes, and should have less than 200 kB: %v", file, info.Size(), err)
		}
	}
}
