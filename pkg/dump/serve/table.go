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

// container and containerStatus are what the columns of a pod are printed from.
type container struct{ Name, RestartPolicy string }

type containerStatus struct {
	Name           string
	Ready, Started bool
	State          struct {
		Running    *struct{}
		Waiting    *struct{ Reason string }
		Terminated *terminated
	}
}

type terminated struct {
	Reason           string
	Signal, ExitCode int
}

func (t *terminated) String() string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

func podReady(o *printed) string {
	_, ready, total := o.pod()
	return fmt.Sprintf("%d/%d", ready, total)
}

func podStatus(o *printed) string {
	status, _, _ := o.pod()
	return status
}

// pod returns what kubectl get prints of a pod, as printPod finds it.
func (o *printed) pod() (status string, ready, total int) {
	total = len(o.Spec.Containers)
	sidecars := map[string]bool{}
	for _, c := range o.Spec.InitContainers {
		if c.RestartPolicy == "Always" {
			sidecars[c.Name] = true
			total++
		}
	}
	status = o.Status.Phase
	if o.Status.Reason != "" {
		status = o.Status.Reason
	}
	for _, c := range o.Status.Conditions {
		if c.Type == "PodScheduled" && c.Reason == "SchedulingGated" {
			status = c.Reason
		}
	}
	initializing, readySidecars := o.initializing(sidecars)
	ready = readySidecars
	if initializing != "" {
		status = initializing
	}
	if initializing == "" || o.holds("Initialized") {
		var running int
		status, running = o.running(status)
		ready += running
	}
	switch {
	case o.Metadata.DeletionTimestamp == "":
	case o.Status.Reason == "NodeLost":
		status = "Unknown"
	case o.Status.Phase != "Failed" && o.Status.Phase != "Succeeded":
		status = "Terminating"
	}
	return status, ready, total
}

// initializing returns what the first init container says that has not ended well, empty if all
// have, and how many of those before it run on and are ready.
func (o *printed) initializing(sidecars map[string]bool) (status string, ready int) {
	for i, c := range o.Status.InitContainerStatuses {
		switch ended := c.State.Terminated; {
		case ended != nil && ended.ExitCode == 0:
		case sidecars[c.Name] && c.Started:
			if c.Ready {
				ready++
			}
		case ended != nil:
			return "Init:" + ended.String(), ready
		case c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing":
			return "Init:" + c.State.Waiting.Reason, ready
		default:
			return fmt.Sprintf("Init:%d/%d", i, len(o.Spec.InitContainers)), ready
		}
	}
	return "", ready
}

// running returns what the containers of a pod say, and how many of them are ready.
func (o *printed) running(status string) (string, int) {
	ready, failed := 0, ""
	for i := len(o.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := o.Status.ContainerStatuses[i]
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			status = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			if status = c.State.Terminated.String(); c.State.Terminated.ExitCode != 0 {
				failed = status
			}
		case c.Ready && c.State.Running != nil:
			ready++
		}
	}
	if status == "Completed" {
		switch {
		case ready > 0 && o.holds("Ready"):
			status = "Running"
		case failed != "":
			status = failed
		case ready > 0:
			status = "NotReady"
		}
	}
	return status, ready
}
