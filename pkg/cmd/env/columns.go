package env

import (
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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

// writeColumns prints the user's own columns, a row for each item of the object's list. Of several
// clusters, a row begins with the name of its own.
func (o *Output) writeColumns(w io.Writer, object Document) error {
	columns, err := o.columns()
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	items := itemsOf(content)
	if list, several := object.(*v1alpha1.List); several {
		if err := columns.LeadWith("CLUSTER", ".clusterRef.context"); err != nil {
			return err
		}
		items = nil
		for _, of := range list.Items {
			for _, item := range itemsOf(of) {
				if row, is := item.(map[string]any); is {
					row["clusterRef"] = of["clusterRef"]
				}
				items = append(items, item)
			}
		}
	}
	return columns.Write(w, items, render.Style{NoHeaders: o.noHeaders})
}

// itemsOf are the items of an object's list, or the object.
func itemsOf(content map[string]any) []any {
	kind, _ := content["kind"].(string)
	if key, ok := listed[kind]; ok {
		items, _ := content[key].([]any)
		return items
	}
	return []any{content}
}
