package core

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// CreatingIn marks a step that works only if something can be created in a namespace: the pods of a
// Deployment that is scaled up count too.
func (s Step) CreatingIn(namespace string) Step {
	s.creates = namespace
	return s
}

// Creation is what a remedy has to create: an object, or the pods of a workload.
type Creation struct {
	// What names it as a sentence does: "Secret db", "the pods of Deployment operator". Namespace
	// is empty for what is in none.
	What, Namespace string
	// Elsewhere says that it can do its work from another namespace too, and Perhaps that nobody knows
	// whether it belongs into this one.
	Elsewhere, Perhaps bool
	// Left says, in sentences, what is left to do without it, and what that costs.
	Left string
}

// Possible leaves out of a finding what nobody can do: the server creates nothing in a namespace
// that is being deleted (API-024). Then the finding says so, its remedy is what is left, and the
// steps that create something there are gone. Where a namespace cannot be read nothing is left out.
func (e *Examination) Possible(ctx context.Context, f Finding, c Creation) Finding {
	if !e.Closed(ctx, c.Namespace) {
		return f
	}
	f.Evidence = append(f.Evidence[:len(f.Evidence):len(f.Evidence)],
		ObservedAt("Namespace "+c.Namespace+" metadata.deletionTimestamp",
			fmt.Sprintf("namespace %s is being deleted, so that nothing can be created in it", c.Namespace))...)
	f.Remedy = fmt.Sprintf("Namespace %s is being deleted: %s cannot be created there.", c.Namespace, c.What)
	switch {
	case c.Perhaps:
		f.Remedy = fmt.Sprintf("Namespace %s is being deleted: if %s was there, it cannot be created again.", c.Namespace, c.What)
	case c.Elsewhere:
		f.Remedy += " Run it in another namespace if it can do its work from there."
	}
	if c.Left != "" {
		f.Remedy += " " + c.Left
	}
	var steps []Step
	for _, s := range f.Commands {
		if s.creates != c.Namespace {
			steps = append(steps, s)
		}
	}
	f.Commands = steps
	return f
}

// Closed reports whether a namespace is proven to be being deleted.
func (e *Examination) Closed(ctx context.Context, namespace string) bool {
	if namespace == "" {
		return false
	}
	if id, seen := e.Graph.Find(cluster.Namespaces.Group, cluster.Namespaces.Resource, "", namespace); seen &&
		e.Graph.DeletionTimestamp(id) != 0 {
		return true
	}
	o, err := e.Reader.GetObject(ctx, cluster.Namespaces, "", namespace)
	return err == nil && o != nil && o.GetDeletionTimestamp() != nil
}
