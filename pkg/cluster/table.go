package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// acceptTable asks for what kubectl get prints.
const acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

var (
	// errNoTable is of a server that does not print objects of a type.
	errNoTable = errors.New("the answer is no table")
	// errNoColumns is of a table that says nothing of READY and STATUS.
	errNoColumns = errors.New("the table has neither a column READY nor a column STATUS")
)

// tableRequest asks for one page of what kubectl get prints.
type tableRequest struct {
	path []string
	// limit is how many rows there are at most, of a list; 0 for one object.
	limit         int
	continueToken string
	// version asks for the list as it was then, whatever has changed since.
	version string
	// object is how much of each object comes with its row.
	object metav1.IncludeObjectPolicy
}

// tableRow is one object as kubectl get prints it.
type tableRow struct {
	Cells []json.RawMessage
	// Object is what was asked for of the object.
	Object json.RawMessage
}

// table reads one page row by row, and returns the token of the next one. The columns come before
// the rows.
func (c *Client) table(ctx context.Context, t tableRequest, columns func(layout), row func(*tableRow) error) (string,
	error) {
	req := c.rest.Get().AbsPath(t.path...).SetHeader("Accept", acceptTable).WarningHandlerWithContext(quietWarnings{}).
		Param("includeObject", string(t.object))
	if t.limit > 0 {
		req.Param("limit", strconv.Itoa(t.limit))
	}
	switch {
	case t.continueToken != "": // which holds the version
		req.Param("continue", t.continueToken)
	case t.version != "":
		req.Param("resourceVersion", t.version).Param("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
	}
	body, err := req.Stream(ctx)
	if err != nil {
		return "", err
	}
	defer body.Close()
	return decodeTable(bufio.NewReaderSize(body, readBuffer), columns, row)
}

// decodeTable reads a table, whose columns stand before its rows, to the end. It holds one row at a
// time.
func decodeTable(r io.Reader, columns func(layout), row func(*tableRow) error) (next string, err error) {
	dec := json.NewDecoder(r)
	if err := expect(dec, json.Delim('{')); err != nil {
		return "", err
	}
	kind, defined := "", false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", jsonError(err)
		}
		var into any
		var meta metav1.ListMeta
		var definitions []metav1.TableColumnDefinition
		var skipped json.RawMessage
		switch key {
		case "kind":
			into = &kind
		case "metadata":
			into = &meta
		case "columnDefinitions":
			into = &definitions
		case "rows":
			if kind != "Table" || !defined {
				return "", errNoTable
			}
			if err := readJSONItems(dec, row); err != nil {
				return "", err
			}
			continue
		default:
			into = &skipped
		}
		if err := dec.Decode(into); err != nil {
			return "", jsonError(err)
		}
		switch key {
		case "metadata":
			next = meta.Continue
		case "columnDefinitions":
			defined = true
			columns(layoutOf(definitions))
		}
	}
	if err := expect(dec, json.Delim('}')); err != nil {
		return "", err
	}
	if kind != "Table" {
		return "", fmt.Errorf("%w, but of kind %q", errNoTable, kind)
	}
	_, err = dec.Token() // to the end, so that the connection can be used again
	if err != nil && !errors.Is(err, io.EOF) {
		return "", jsonError(err)
	}
	return next, nil
}

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

// tells reports whether there is something to read.
func (at layout) tells() bool { return at.name >= 0 && (at.ready >= 0 || at.status >= 0) }

func (at layout) nameOf(row *tableRow) string { return cell(row, at.name) }

func (at layout) columns(row *tableRow) graph.PrinterColumns {
	return graph.PrinterColumns{Ready: cell(row, at.ready), Status: cell(row, at.status)}
}

// isWell reports whether the columns of a custom resource say that it is ready, and none that
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
