package docs_test

import (
	"os"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/docs"
)

// TestSafetyIsWhatTestsHold: each test on the page is there, and the page is up to date.
func TestSafetyIsWhatTestsHold(t *testing.T) {
	want, err := docs.Safety("..")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("safety.md"); err != nil || string(got) != want {
		t.Errorf("safety.md is not up to date: run make docs (%v)", err)
	}
}
