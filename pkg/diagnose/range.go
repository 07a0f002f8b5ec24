package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// addresses returns the addresses that only a ServiceCIDR contains, and what has them. If there are
// none, whoever removes the finalizer has not done it.
func (e *examiner) addresses(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	by := e.ByActor(ctx, id, actor.RangeFinalizer)
	o := e.Own(ctx, id)
	if o == nil {
		return by
	}
	all, err := actor.AddressesIn(ctx, e.Reader, o)
	if err != nil {
		return core.WithEvidence(by, core.Seen("whether addresses in it are in use is not known: %v", err)...)
	}
	f := core.Finding{Code: core.InUse, Finalizer: actor.RangeFinalizer}
	for _, address := range all[:min(len(all), phrase.MaxNamed)] {
		says := fmt.Sprintf("IPAddress %s is in it and in no other ServiceCIDR", address.GetName())
		if parent, ok := e.parentOf(address); ok {
			says = fmt.Sprintf("%s has IPAddress %s, which is in no other ServiceCIDR", parent.Located(), address.GetName())
			f.Commands = append(f.Commands, core.At(parent, core.Command("kubectl", "gc", "delete", "OBJECT", "--dry-run")).
				Safely("shows what is deleted with what has the address"))
		}
		f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(address, "spec.parentRef"), says)...)
	}
	if len(all) == 0 {
		return core.WithEvidence(by, core.Observed("no IPAddress is in it alone")...)
	}
	if more := len(all) - phrase.MaxNamed; more > 0 {
		f.Observe("%d more addresses are in it alone", more)
	}
	f.Remedy = "Create a ServiceCIDR of another name that contains the range, or delete what has the addresses: then the finalizer is removed."
	for _, b := range by {
		if b.Cost != "" {
			f.Actor, f.Cost = b.Actor, b.Cost
		}
	}
	f.Commands = append(f.Commands,
		core.Remove(
			actor.RangeFinalizer, "--force").Doing(
			"removes the finalizer by hand: Services keep addresses outside any range").Risking(finalizer.BreaksCluster))
	return core.Awaited(core.Found(ref, f), by)
}

// parentOf is what has an IPAddress, as far as its type is served.
func (e *examiner) parentOf(address *unstructured.Unstructured) (v1alpha1.ObjectRef, bool) {
	parent := func(field string) string { return status.Nested(address, "spec", "parentRef", field) }
	r, served := e.Reader.Lookup(schema.GroupResource{Group: parent("group"), Resource: parent("resource")})
	if !served || parent("name") == "" {
		return v1alpha1.ObjectRef{}, false
	}
	return core.RefTo(r.Type, parent("namespace"), parent("name")), true
}
