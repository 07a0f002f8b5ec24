package actor

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Fault is why a workload has no pod that is ready.
type Fault struct {
	// Says is a clause that says what was seen, and From where.
	Says, From string
	// Repair is what to do, as a clause.
	Repair string
	// Pod is the pod that shows it, nil if none was made, and Container the container, empty if it
	// is not one. Logs says that its log says more: that of the container that ended if Previous.
	Pod            *unstructured.Unstructured
	Container      string
	Logs, Previous bool
	// Webhook is the name of a webhook that keeps pods from being made, empty if it is not that.
	Webhook string
	// Starting says that it may come up yet: nothing is known to be wrong.
	Starting bool
}

// Faults finds out why a workload that should have pods has none that is ready: from its pods, and
// where it has none, from what it says of making them. It returns none for one that is scaled to 0,
// and what could not be listed.
func (f *Finder) Faults(ctx context.Context, w *unstructured.Unstructured) (faults []Fault, unread []string) {
	if number(w, 1, "spec", "replicas") == 0 && w.GetKind() != "DaemonSet" {
		return nil, nil
	}
	if idle(w) && observed(w) {
		says := title(w) + " is meant for no node"
		return []Fault{{Says: says, From: place(w, "status"), Repair: says + ": change its nodeSelector, its affinity or " +
			"its tolerations, or what they leave out of the nodes"}}, nil
	}
	pods, err := f.podsSelectedBy(ctx, w)
	pods = slices.DeleteFunc(slices.Clone(pods),
		func(pod *unstructured.Unstructured) bool { return pod.GetDeletionTimestamp() != nil })
	if err != nil {
		unread = GapClauses(unlisted(cluster.Pods, w.GetNamespace(), err))
	}
	for _, pod := range pods {
		if fault, ok := f.podFault(pod); ok && !slices.ContainsFunc(faults, fault.same) {
			faults = append(faults, fault)
		}
	}
	if len(faults) == 0 {
		more, not := f.unmade(ctx, w)
		faults, unread = append(faults, more...), append(unread, not...)
	}
	if len(faults)+len(pods)+len(unread) == 0 {
		name := w.GetKind() + " " + w.GetNamespace() + "/" + w.GetName()
		faults = append(faults, Fault{Says: name + " has no pods, and does not say why", From: name,
			Repair: "find out why kube-controller-manager makes no pods of " + name})
	}
	return faults, unread
}

// same says whether another pod shows the same.
func (a Fault) same(b Fault) bool { return a.Repair == b.Repair && a.Container == b.Container }
