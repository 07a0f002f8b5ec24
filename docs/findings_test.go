package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
)

// TestFindings fails when docs/findings.md is not what the source says.
func TestFindings(t *testing.T) {
	want := docs.Findings()
	if !strings.Contains(want, "| `"+string(check.WrongScope)+"` | error | a cluster-scoped object") {
		t.Errorf("the page does not list the codes:\n%s", want)
	}
	got, err := os.ReadFile("findings.md")
	if err != nil {
		t.Fatalf("%v; run make docs", err)
	}
	if string(got) != want {
		t.Errorf("docs/findings.md is out of date; run make docs\n%s", firstDifference(string(got), want))
	}
}
