package finalizers

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// namesake is the evidence that a finalizer which no pack knows was put there for another object: of
// the same API group and namespace, or cluster-scoped, whose name it ends in.
func (e *Examiner) namesake(o *unstructured.Unstructured, name string) []v1alpha1.Observation {
	of, seen := e.Graph.Lookup(string(o.GetUID()))
	if !seen {
		return nil
	}
	own, found := e.Graph.Ref(of), graph.Ref{}
	for _, t := range e.Graph.Types() {
		if t.Group != own.Group() || t.Group == "" {
			continue
		}
		namespace := own.Namespace
		if !t.Namespaced {
			namespace = ""
		}
		for id := range e.Graph.OfType(t.Group, t.Resource, namespace) {
			ref := e.Graph.Ref(id)
			if ref.UID != own.UID && endsIn(name, ref.Name) && len(ref.Name) > len(found.Name) {
				found = ref
			}
		}
	}
	if found.Name == "" {
		return nil
	}
	state := ""
	if id, ok := e.Graph.Lookup(found.UID); ok && e.Graph.State(id) == graph.Deleting {
		state = ", which is being deleted too"
	}
	return core.Seen("%s", fmt.Sprintf("it ends in the name of %s%s: it may be there for that", core.Named(found), state))
}

// endsIn says whether a finalizer ends in a name, behind what parts words.
func endsIn(finalizer, name string) bool {
	before, ends := strings.CutSuffix(finalizer, name)
	return ends && len(name) > 2 && before != "" && strings.ContainsAny(before[len(before)-1:], "./-_")
}
