package finalizers

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// behindItsNamespace completes a finding about an object in no namespace that names one which is
// being deleted as well: whoever removes the finalizer may have deleted it, and wait for its end
// (https://github.com/kubermatic/kubermatic/issues/15997). What keeps the namespace comes with it.
func (e *Examiner) behindItsNamespace(b core.Responsible, f core.Finding) core.Finding {
	o := b.Object
	name := namespaceNamed(o, true)
	if name == "" {
		return f
	}
	id, seen := e.Graph.Find(cluster.Namespaces.Group, cluster.Namespaces.Resource, "", name)
	if !seen || e.Graph.DeletionTimestamp(id) == 0 || o.GetDeletionTimestamp() == nil {
		return f
	}
	f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(o, ""),
		fmt.Sprintf("it names namespace %s, which is being deleted as well", name))...)
	if f.Remedy == "" && f.Code == core.FinalizerActorAlive {
		f.Remedy = phrase.Sentence(b.Name + " is alive")
	}
	f.Remedy = f.Usual() + fmt.Sprintf(" It may wait for namespace %s, which it names and which is being deleted: see first to what keeps that.", name)
	f.Commands = append([]core.Step{core.At(e.Graph.Ref(id), core.Command("kubectl", "gc", "why", "OBJECT")).
		Safely("says why the namespace is still there")}, f.Commands...)
	f.Users, f.After = append(f.Users, id), max(f.After, 1)
	return f
}
