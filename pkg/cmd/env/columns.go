package env

import (
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// The formats with columns of the user's own, and what stands before the columns.
const (
	customColumns     = "custom-columns"
	customColumnsFile = "custom-columns-file"
)

// listed says which list of an object, by its kind, has the rows of custom columns. An object of
// another kind is a row itself.
var listed = map[string]string{
	"Archive": "objects", "CheckReport": "findings", "Diagnosis": "stuck", "Explanation": "finalizers",
	"LinkTest": "sources", "Plan": "actions", "RestorePlan": "actions", "RestoreResult": "done",
	"Result": "done", "Tree": "nodes",
}

// hasColumns says whether the format is one with columns of the user's own.
func (o *Output) hasColumns() bool {
	format, _, _ := strings.Cut(o.Format(), "=")
	return format == customColumns || format == customColumnsFile
}

// columns reads the user's own columns.
func (o *Output) columns() (*render.Columns, error) {
	format, given, _ := strings.Cut(o.Format(), "=")
	if format == customColumns {
		return render.ParseColumns(given)
	}
	text, err := os.ReadFile(given)
	if err != nil {
		return nil, fmt.Errorf("reading the columns of -o %s: %w", customColumnsFile, err)
	}
	return render.ParseColumnsFile(string(text))
}

// writeColumns prints the user's own columns, a row for each item of the object's list.
func (o *Output) writeColumns(w io.Writer, object Document) error {
	columns, err := o.columns()
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	items := []any{content}
	if key, ok := listed[object.GetObjectKind().GroupVersionKind().Kind]; ok {
		items, _ = content[key].([]any)
	}
	return columns.Write(w, items, render.Style{NoHeaders: o.noHeaders})
}
