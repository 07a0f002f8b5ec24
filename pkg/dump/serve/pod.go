package serve

import "fmt"

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
