package cluster

import (
	"context"
	"sync"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// PrinterColumns asks the server how it would print objects of a graph, and returns their columns
// READY and STATUS. The points are those at which the lists ended of which the graph was made. What
// cannot be read is left out: it is an ornament, and whether the object is there has been settled
// by the listing. The error is that ctx has ended.
//
// Rows come without their objects: names say whose they are within a namespace. Where one list of
// all namespaces costs less than one of each, it is asked for as of the resourceVersion of the
// graph's list, so that its rows are the objects of the graph in their order. A type without these
// columns is asked once. Of custom resources whole objects are read as well, unless the columns say
// that all is well.
func (c *Client) PrinterColumns(ctx context.Context, g *graph.Graph, ids []graph.ID,
	points []ResumePoint) (map[graph.ID]graph.PrinterColumns, error) {
	p := &printed{client: c, graph: g, columns: make(map[graph.ID]graph.PrinterColumns, len(ids))}
	for _, next := range []func() []request{
		func() []request { return p.tables(ids, points) },
		p.more, // of types that have the columns
		p.more, // of types whose list of all namespaces did not come
		p.objects,
	} {
		if err := EachUntil(ctx, c, next(), func(ctx context.Context, _ int, r request) error {
			r(ctx)
			return context.Cause(ctx)
		}); err != nil {
			return nil, err
		}
	}
	return p.columns, nil
}

// request reads something of the server.
type request func(context.Context)

// printed is what the server has printed. Its methods are safe for concurrent use.
type printed struct {
	client *Client
	graph  *graph.Graph

	mu      sync.Mutex
	columns map[graph.ID]graph.PrinterColumns
	texts   interner   // of columns: thousands of rows say the same
	waiting []request  // are worth sending by what has been answered
	unwell  []graph.ID // are custom resources that are to be read whole
}

// then has requests sent when those that are under way have been answered.
func (p *printed) then(requests ...request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, requests...)
}

func (p *printed) more() []request {
	all := p.waiting
	p.waiting = nil
	return all
}

// doubt has custom resources read whole.
func (p *printed) doubt(ids ...graph.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unwell = append(p.unwell, ids...)
}

// note remembers the columns of an object.
func (p *printed) note(id graph.ID, columns graph.PrinterColumns) {
	p.mu.Lock()
	defer p.mu.Unlock()
	columns.Ready, columns.Status = p.texts.text(columns.Ready), p.texts.text(columns.Status)
	p.columns[id] = columns
}

// objects returns the requests for the custom resources that are to be read whole.
func (p *printed) objects() []request {
	var all []request
	ids := make(map[string]graph.ID, len(p.unwell))
	for _, id := range p.unwell {
		ids[p.graph.Ref(id).UID] = id
	}
	assess := func(o *unstructured.Unstructured) error {
		if id, wanted := ids[string(o.GetUID())]; wanted {
			p.assess(id, o)
		}
		return nil
	}
	for _, r := range objectReads(RequestObjects(p.graph, p.unwell)) {
		// What cannot be read has no columns.
		all = append(all, func(ctx context.Context) { _ = p.client.readObject(ctx, r, assess) })
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
		columns.Failing = &v1alpha1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message}
	}
}
