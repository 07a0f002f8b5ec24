package docs_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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
	var texts []string
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	pictures, err := docs.Pictures(transcripts, texts...)
	if err != nil || len(pictures) == 0 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	for _, p := range pictures {
		if text, err := os.ReadFile(filepath.Join("images", p.File)); err != nil || string(text) != p.Text {
			t.Errorf("docs/images/%s is out of date, %v; run make docs", p.File, err)
		}
	}
	shown := map[string]bool{}
	for i, file := range pages(t) {
		text, images := texts[i], "images"
		if file == "../README.md" {
			images = "docs/images"
		}
		want, err := docs.WithPictures(text, images, transcripts)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if text != want {
			t.Errorf("%s is out of date; run make docs\n%s", file, firstDifference(text, want))
		}
		for _, name := range docs.ShownPictures(text) {
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
	pictures, err := docs.Pictures(map[string]string{"one/colors": transcript, "one/plain": "$ true\n"}, "<!-- picture: one/colors -->\n")
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
	if _, err := docs.Pictures(map[string]string{"one/colors": "$ true\n␛[95mpink␛[0m\n"},
		"<!-- picture: one/colors -->\n"); err == nil ||
		!strings.Contains(err.Error(), "the color 95") {
		t.Errorf("a color without a class: %v", err)
	}
	if _, err := docs.WithPictures("<!-- picture: two/colors -->\n", "images",
		map[string]string{"two/colors": "$ true\n"}); err == nil {
		t.Error("a picture of a transcript without colors is no error")
	}
}

// TestAMovingPictureShowsEachOfItsTranscripts for a while, one after the other: what is there at no
// time, or never goes, would not be noticed.
func TestAMovingPictureShowsEachOfItsTranscripts(t *testing.T) {
	t.Parallel()
	transcripts := map[string]string{"one/colors": "$ kubectl gc tree\n␛[31mred␛[0m\n", "two/plain": "$ kubectl gc why\nblue\n\ngreen\n"}
	pictures, err := docs.Pictures(transcripts, "<!-- picture: one/colors two/plain -->\n")
	if err != nil || len(pictures) != 1 || pictures[0].File != "one-two.svg" {
		t.Fatalf("%v, %v", pictures, err)
	}
	text := pictures[0].Text
	if err := xml.Unmarshal([]byte(text), new(struct{})); err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`@keyframes s\d \{ 0% \{ visibility: hidden \} ([\d.]+)% \{ visibility: visible \} ([\d.]+)% \{ visibility: hidden \} \}`)
	printed := regexp.MustCompile(`@keyframes o\d \{ 0% \{ visibility: hidden \} ([\d.]+)% \{ visibility: inherit \} \}`)
	scenes, outputs := shown.FindAllStringSubmatch(text, -1), printed.FindAllStringSubmatch(text, -1)
	if len(scenes) != 2 || len(outputs) != 2 {
		t.Fatalf("%d scenes and %d outputs in\n%s", len(scenes), len(outputs), text)
	}
	end := "0.00"
	for i := range scenes {
		from, until, output := number(t, scenes[i][1]), number(t, scenes[i][2]), number(t, outputs[i][1])
		if scenes[i][1] != end || output <= from || until <= output {
			t.Errorf("scene %d is from %v to %v, and its output from %v on, after %s", i, from, until, output, end)
		}
		end = scenes[i][2]
	}
	if end != "100.00" {
		t.Errorf("the last scene ends at %s", end)
	}
	for _, want := range []string{">blue</text>", `<tspan class="red">red</tspan>`, ">green</text>", "prefers-reduced-motion"} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %q", want)
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
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
