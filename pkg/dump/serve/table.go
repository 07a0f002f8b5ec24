package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
)

// printed is what is read of an object to print its columns READY and STATUS.
type printed struct {
	Metadata struct {
		Name              string
		DeletionTimestamp string
	}
	Spec struct {
		Replicas                   int
		Unschedulable              bool
		Containers, InitContainers []container
	}
	Status struct {
		Phase, Reason                            string
		ReadyReplicas, NumberReady               int
		Conditions                               []condition
		ContainerStatuses, InitContainerStatuses []containerStatus
	}
}

type condition struct{ Type, Status, Reason string }

// columns are how the columns READY and STATUS of built-in types are printed
// (kubernetes/pkg/printers/internalversion/printers.go); a type has none of those that are nil.
type columns struct{ ready, status func(*printed) string }

var printers = map[string]columns{
	"pods":                   {podReady, podStatus},
	"deployments.apps":       {ready: readyOfReplicas},
	"statefulsets.apps":      {ready: readyOfReplicas},
	"replicasets.apps":       {ready: readyReplicas},
	"replicationcontrollers": {ready: readyReplicas},
	"daemonsets.apps":        {ready: func(o *printed) string { return fmt.Sprint(o.Status.NumberReady) }},
	"jobs.batch":             {status: jobStatus},
	"namespaces":             {status: func(o *printed) string { return o.Status.Phase }},
	"nodes":                  {status: nodeStatus},
	"persistentvolumes":      {status: phaseOrTerminating},
	"persistentvolumeclaims": {status: phaseOrTerminating},
}

func readyOfReplicas(o *printed) string {
	return fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, o.Spec.Replicas)
}
func readyReplicas(o *printed) string { return fmt.Sprint(o.Status.ReadyReplicas) }

func phaseOrTerminating(o *printed) string {
	if o.Metadata.DeletionTimestamp != "" {
		return "Terminating"
	}
	return o.Status.Phase
}

func nodeStatus(o *printed) string {
	status := "Unknown"
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" {
			if status = "NotReady"; c.Status == "True" {
				status = "Ready"
			}
		}
	}
	if o.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

func jobStatus(o *printed) string {
	for _, of := range []string{"Complete", "Failed", "", "Suspended", "FailureTarget", "SuccessCriteriaMet"} {
		switch {
		case of == "" && o.Metadata.DeletionTimestamp != "":
			return "Terminating"
		case of != "" && o.holds(of):
			return of
		}
	}
	return "Running"
}

// holds returns whether a condition is True.
func (o *printed) holds(of string) bool {
	return slices.ContainsFunc(o.Status.Conditions, func(c condition) bool { return c.Type == of && c.Status == "True" })
}

// wantsTable returns whether a request asks for what kubectl get prints.
func wantsTable(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "as=Table") }

// table is what a server prints of objects of one of the printers' types. Of an object of which only
// the metadata is there the columns are empty.
func table(t *dump.Type, objects []*dump.Object, meta metav1.ListMeta) answer {
	print := printers[groupResource(t)]
	out := metav1.Table{TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: metav1.SchemeGroupVersion.String()}, ListMeta: meta,
		ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name"}},
		Rows:              []metav1.TableRow{}}
	var cells []func(*printed) string
	for name, of := range map[string]func(*printed) string{"Ready": print.ready, "Status": print.status} {
		if of != nil {
			out.ColumnDefinitions = append(out.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
			cells = append(cells, of)
		}
	}
	for _, o := range objects {
		row := metav1.TableRow{Cells: []any{o.Name}}
		var it printed
		known := o.JSON != nil && json.Unmarshal(o.JSON, &it) == nil
		for _, of := range cells {
			if known {
				row.Cells = append(row.Cells, of(&it))
			} else {
				row.Cells = append(row.Cells, nil)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return found(out)
}
