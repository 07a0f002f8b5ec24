package docs_test

import (
	"os"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/docs"
)

// TestRowSchema fails when the schema of rows is not that of v1alpha1.Row.
func TestRowSchema(t *testing.T) {
	want, err := docs.RowSchema()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("row.schema.json")
	if err != nil || string(got) != string(want) {
		t.Errorf("docs/row.schema.json is out of date; run make docs: %v\n%s", err, firstDifference(string(got), string(want)))
	}
}
