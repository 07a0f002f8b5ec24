package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// objects returns the requests for the custom resources that are to be read whole.
func (p *printed) objects() []request {
	var all []request
	ids := make(map[string]graph.ID, len(p.unwell))
	for _, id := range p.unwell {
		ids[p.graph.Ref(id).UID] = id
	}
	read := func(o *unstructured.Unstructured) error {
		if id, wanted := ids[string(o.GetUID())]; wanted {
			p.assess(id, o)
		}
		return nil
	}
	for _, read := range p.client.reads(RequestObjects(p.graph, p.unwell), read) {
		all = append(all, func(ctx context.Context) { _ = read(ctx) }) // what cannot be read has no columns
	}
	return all
}

// assess adds what the status of a custom resource says.
func (p *printed) assess(id graph.ID, o *unstructured.Unstructured) {
	p.mu.Lock()
	columns := p.columns[id]
	p.mu.Unlock()
	addStatus(&columns, o)
	p.note(id, columns)
}

// isCustom is true for groups that do not come with Kubernetes.
func isCustom(group string) bool {
	switch group {
	case "", "apps", "batch", "autoscaling", "policy":
		return false
	}
	return len(group) < 7 || group[len(group)-7:] != ".k8s.io"
}

// addStatus adds the condition that fails and, where the server has no column for it, kstatus's
// word on whether the object is ready: Current, InProgress, Failed, Terminating.
func addStatus(columns *graph.PrinterColumns, o *unstructured.Unstructured) {
	if _, found, _ := unstructured.NestedMap(o.Object, "status"); !found {
		return
	}
	if columns.Ready == "" && columns.Status == "" {
		if result, err := kstatus.Compute(o); err == nil {
			columns.Ready = string(result.Status)
		}
	}
	if c, failing := status.Trouble(o); failing {
		columns.Failing = &graph.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message}
	}
}
