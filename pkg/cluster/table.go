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
