package docs_test

import (
	"os"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/docs"
)

// longest is how many characters the first sentence of a package comment may have, so that it fits
// a row of a table.
const longest = 170

// TestMapOfPackages fails when a package has no comment whose first sentence says what it is for,
// or when docs/CONTRIBUTING.md does not have it.
func TestMapOfPackages(t *testing.T) {
	packages, err := docs.Packages(os.DirFS(".."))
	if err != nil || len(packages) < 20 {
		t.Fatalf("%d packages, %v", len(packages), err)
	}
	for _, p := range packages {
		switch synopsis := p.Synopsis(); {
		case len(p.Doc) != 1:
			t.Errorf("%s has %d package comments and should have one", p.Dir, len(p.Doc))
		case synopsis == "":
			t.Errorf("%s: the package comment should begin with \"Package %s\", or \"Command\" and the folder, and a sentence: %s", p.Dir, p.Name, p.Doc[0])
		case len(synopsis) > longest:
			t.Errorf("%s: the first sentence of the package comment has %d characters and should have at most %d: %s", p.Dir,
				len(synopsis), longest, synopsis)
		}
	}
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	want := docs.WithPackages(string(text), packages)
	if want == docs.WithPackages(string(text), nil) {
		t.Error("docs/CONTRIBUTING.md has no place for the map")
	}
	if string(text) != want {
		t.Errorf("docs/CONTRIBUTING.md is out of date; run make docs\n%s", firstDifference(string(text), want))
	}
}
