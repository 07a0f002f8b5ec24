package cluster

import (
	"context"
	"encoding/json"
	"strconv"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// ObjectNames names objects of one type in one namespace.
type ObjectNames struct {
	Type      graph.Type
	Namespace string
	Names     []string
}

// singleReads is how many objects of a type are asked for one by one before a list of the namespace is cheaper.
const singleReads = 4

// acceptTable asks for what kubectl get prints.
const acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// PrinterColumns asks the server how it would print the objects and returns the columns by request and name. What cannot be read is left out:
// it is an ornament, and whether the object is there has been settled by the listing.
func (c *Client) PrinterColumns(ctx context.Context, requests []ObjectNames) ([]map[string]graph.PrinterColumns, error) {
	readings := make([]map[string]graph.PrinterColumns, len(requests))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.concurrency)
	for i, r := range requests {
		group.Go(func() error {
			readings[i] = c.printerColumnsOf(ctx, r)
			return context.Cause(ctx)
		})
	}
	return readings, group.Wait()
}

func (c *Client) printerColumnsOf(ctx context.Context, r ObjectNames) map[string]graph.PrinterColumns {
	readings := make(map[string]graph.PrinterColumns, len(r.Names))
	path := resourcePath(r.Type.Group, r.Type.Version, r.Type.Resource, r.Namespace)
	if len(r.Names) <= singleReads {
		for _, name := range r.Names {
			_, _ = c.table(ctx, append(path[:len(path):len(path)], name), r.Type, "", readings) // an object that cannot be read has no columns
		}
		return readings
	}
	wanted := make(map[string]bool, len(r.Names))
	for _, name := range r.Names {
		wanted[name] = true
	}
	for token := ""; ; {
		next, err := c.table(ctx, path, r.Type, token, readings)
		if err != nil || next == "" {
			break
		}
		token = next
	}
	for name := range readings {
		if !wanted[name] {
			delete(readings, name)
		}
	}
	return readings
}

// table reads one answer into readings and returns the continue token.
func (c *Client) table(ctx context.Context, path []string, t graph.Type, token string, readings map[string]graph.PrinterColumns) (string, error) {
	req := c.rest.Get().AbsPath(path...).WarningHandlerWithContext(quietWarnings{}).Param("limit", strconv.Itoa(500))
	if token != "" {
		req.Param("continue", token)
	}
	custom := isCustom(t.Group)
	if custom {
		// The conditions stand in the whole object; of built-in types the columns say all there is.
		req.Param("includeObject", string(metav1.IncludeObject))
	}
	var answer metav1.Table
	if err := getJSON(ctx, req, acceptTable, &answer); err != nil || answer.Kind != "Table" {
		return "", err
	}
	columns := columnIndexOf(&answer)
	for i := range answer.Rows {
		row := &answer.Rows[i]
		var meta struct{ Metadata struct{ Name string } }
		if err := json.Unmarshal(row.Object.Raw, &meta); err != nil {
			continue
		}
		reading := graph.PrinterColumns{Ready: cell(row, columns.ready), Status: cell(row, columns.status)}
		if custom {
			addStatus(&reading, row.Object.Raw)
		}
		readings[meta.Metadata.Name] = reading
	}
	return answer.Continue, nil
}

type columnIndex struct{ ready, status int }

// columnIndexOf finds the columns by the names that the built-in types and most CustomResourceDefinitions give them.
func columnIndexOf(t *metav1.Table) columnIndex {
	c := columnIndex{-1, -1}
	for i, col := range t.ColumnDefinitions {
		switch col.Name {
		case "Ready", "READY":
			c.ready = i
		case "Status", "STATUS":
			c.status = i
		}
	}
	return c
}

func cell(row *metav1.TableRow, column int) string {
	if column < 0 || column >= len(row.Cells) {
		return ""
	}
	switch v := row.Cells[column].(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// isCustom is true for groups that do not come with Kubernetes.
func isCustom(group string) bool {
	switch group {
	case "", "apps", "batch", "autoscaling", "policy":
		return false
	}
	return len(group) < 7 || group[len(group)-7:] != ".k8s.io"
}

// addStatus adds what the status of an object says: the condition that fails and, where the server has no column for it, kstatus's word on whether it is
// ready: Current, InProgress, Failed, Terminating.
func addStatus(reading *graph.PrinterColumns, raw []byte) {
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(raw); err != nil {
		return
	}
	if _, found, _ := unstructured.NestedMap(u.Object, "status"); !found {
		return
	}
	if reading.Ready == "" && reading.Status == "" {
		if result, err := kstatus.Compute(&u); err == nil {
			reading.Ready = string(result.Status)
		}
	}
	if c, failing := status.Trouble(&u); failing {
		reading.Failing = graph.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message}
	}
}
