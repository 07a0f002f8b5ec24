package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/test/stuck"
)

// TestStuck fails when docs/stuck.md is not what the scripts say.
func TestStuck(t *testing.T) {
	cases, err := stuck.Cases(os.DirFS("../test/stuck/testdata"))
	if err != nil {
		t.Fatal(err)
	}
	want := docs.Stuck(cases)
	if len(cases) == 0 || strings.Count(want, "\n## ") != len(cases) || strings.Contains(want, "%!") {
		t.Errorf("the page does not list the %d cases:\n%s", len(cases), want)
	}
	got, err := os.ReadFile("stuck.md")
	if err != nil {
		t.Fatalf("%v; run make docs", err)
	}
	if string(got) != want {
		t.Errorf("docs/stuck.md is out of date; run make docs\n%s", firstDifference(string(got), want))
	}
}
