package cluster

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// layout says where the columns of a table stand; -1 is one that it does not have.
type layout struct{ name, ready, status int }

// layoutOf finds the columns by the names that the built-in types and most
// CustomResourceDefinitions give them, and the object's name by its format.
func layoutOf(definitions []metav1.TableColumnDefinition) layout {
	at := layout{-1, -1, -1}
	for i, d := range definitions {
		switch {
		case d.Format == "name" && at.name < 0:
			at.name = i
		case d.Name == "Ready" || d.Name == "READY":
			at.ready = i
		case d.Name == "Status" || d.Name == "STATUS":
			at.status = i
		}
	}
	return at
}

// tells says whether there is something to read.
func (at layout) tells() bool { return at.name >= 0 && (at.ready >= 0 || at.status >= 0) }

func (at layout) nameOf(row *tableRow) string { return cell(row, at.name) }

func (at layout) columns(row *tableRow) graph.PrinterColumns {
	return graph.PrinterColumns{Ready: cell(row, at.ready), Status: cell(row, at.status)}
}

// isWell says whether the columns of a custom resource say that it is ready, and none that
// something is wrong.
func (at layout) isWell(row *tableRow) bool {
	if ready := cell(row, at.ready); ready != "True" && ready != "true" {
		return false
	}
	for _, raw := range row.Cells {
		switch string(raw) {
		case `"False"`, `"Unknown"`:
			return false
		}
	}
	return true
}

// cell is what a column says: strings as they are, numbers and truth values as JSON writes them.
func cell(row *tableRow, column int) string {
	if column < 0 || column >= len(row.Cells) {
		return ""
	}
	switch raw := row.Cells[column]; {
	case len(raw) == 0 || raw[0] == 'n' || raw[0] == '{' || raw[0] == '[': // nothing, or nothing to print
		return ""
	case raw[0] != '"':
		return string(raw)
	default:
		var text string
		_ = json.Unmarshal(raw, &text) // which has decoded it once, as a part of the row
		return text
	}
}
