package diagnose

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// creatingIn marks a step that works only if something can be created in a namespace: the pods of a Deployment that is scaled up count too.
func (s step) creatingIn(namespace string) step {
	s.creates = namespace
	return s
}

// creation is what a cure has to create: an object, or the pods of a workload.
type creation struct {
	// what names it as a sentence does: "Secret db", "the pods of Deployment operator". Namespace is empty for what is in none.
	what, namespace string
	// elsewhere says that it can do its work from another namespace too.
	elsewhere bool
	// left says, in sentences, what is left to do without it, and what that costs.
	left string
}

// possible leaves out of a finding what nobody can do: the server creates nothing in a namespace that is being deleted (API-024). Then the finding says
// so, its remedy is what is left, and the steps that create something there are gone. Where a namespace cannot be read nothing is left out.
func (e *core) possible(ctx context.Context, f finding, c creation) finding {
	if !e.closed(ctx, c.namespace) {
		return f
	}
	f.evidence = append(f.evidence[:len(f.evidence):len(f.evidence)],
		observedAt("Namespace "+c.namespace+" metadata.deletionTimestamp", fmt.Sprintf("namespace %s is being deleted, so that nothing can be created in it", c.namespace))...)
	f.remedy = fmt.Sprintf("Namespace %s is being deleted: %s cannot be created there.", c.namespace, c.what)
	if c.elsewhere {
		f.remedy += " Run it in another namespace if it can do its work from there."
	}
	if c.left != "" {
		f.remedy += " " + c.left
	}
	var steps []step
	for _, s := range f.commands {
		if s.creates != c.namespace {
			steps = append(steps, s)
		}
	}
	f.commands = steps
	return f
}

// closed says whether a namespace is proven to be being deleted.
func (e *core) closed(ctx context.Context, namespace string) bool {
	if namespace == "" {
		return false
	}
	if id, seen := e.Graph.Find(cluster.Namespaces.Group, cluster.Namespaces.Resource, "", namespace); seen && e.Graph.DeletionTimestamp(id) != 0 {
		return true
	}
	o, err := e.reader.GetObject(ctx, cluster.Namespaces, "", namespace)
	return err == nil && o != nil && o.GetDeletionTimestamp() != nil
}

// named names an object as a sentence does, with its namespace if it is in one.
func named(o v1alpha1.ObjectRef) string { return graph.Ref(o).Located() }
