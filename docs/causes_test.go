package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/docs"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestCauses fails when docs/causes.md is not what the source says.
func TestCauses(t *testing.T) {
	want := docs.Causes()
	if !strings.Contains(want, "| `"+string(core.HalfDeleted)+"` | nothing blocks the object") {
		t.Errorf("the page does not list the codes:\n%s", want)
	}
	got, err := os.ReadFile("causes.md")
	if err != nil {
		t.Fatalf("%v; run make docs", err)
	}
	if string(got) != want {
		t.Errorf("docs/causes.md is out of date; run make docs\n%s", firstDifference(string(got), want))
	}
}
