package diagnose

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// rangeFinalizer keeps a ServiceCIDR while an IPAddress is in it and in no other
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controller/servicecidrs/servicecidrs_controller.go#L62).
const rangeFinalizer = "networking.k8s.io/service-cidr-finalizer"

var (
	serviceCIDRs = schema.GroupResource{Group: "networking.k8s.io", Resource: "servicecidrs"}
	ipAddresses  = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}
)

// addresses returns the addresses that only a ServiceCIDR contains, and what has them. If there are
// none, whoever removes the finalizer has not done it.
func (e *examiner) addresses(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	by := e.ByActor(ctx, id, rangeFinalizer)
	o := e.Own(ctx, id)
	if o == nil {
		return by
	}
	ranges, err := e.Reader.ListObjects(ctx, serviceCIDRs, "", cluster.Selection{})
	if err != nil {
		return core.WithEvidence(by, core.Seen("which other ServiceCIDRs there are is not known: %v", err)...)
	}
	all, err := e.Reader.ListObjects(ctx, ipAddresses, "", cluster.Selection{})
	if err != nil {
		return core.WithEvidence(by, core.Seen("whether addresses in it are in use is not known: %v", err)...)
	}
	f := core.Finding{Code: core.InUse, Finalizer: rangeFinalizer}
	n := 0
	for _, address := range all {
		if !contains(o, address.GetName()) || containedElsewhere(ranges, ref.Name, address.GetName()) {
			continue
		}
		if n++; n > phrase.MaxNamed {
			continue
		}
		says := fmt.Sprintf("IPAddress %s is in it and in no other ServiceCIDR", address.GetName())
		if parent, ok := e.parentOf(address); ok {
			says = fmt.Sprintf("%s has IPAddress %s, which is in no other ServiceCIDR", core.Named(parent), address.GetName())
			f.Commands = append(f.Commands, core.At(parent, core.Command("kubectl", "gc", "delete", "OBJECT", "--dry-run")).
				Doing("shows what is deleted with what has the address").Risking(finalizer.RiskNone))
		}
		f.Evidence = append(f.Evidence, core.ObservedAt(core.From(address, "spec.parentRef"), says)...)
	}
	if n == 0 {
		return core.WithEvidence(by, core.Observed("no IPAddress is in it alone")...)
	}
	if more := n - phrase.MaxNamed; more > 0 {
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
			rangeFinalizer, "--force").Doing(
			"removes the finalizer by hand: Services keep addresses outside any range").Risking(finalizer.BreaksCluster))
	return core.Awaited(core.Found(ref, f), by)
}

// contains says whether one of the ranges of a ServiceCIDR contains an address.
func contains(o *unstructured.Unstructured, address string) bool {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	ranges, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "cidrs")
	for _, r := range ranges {
		if prefix, err := netip.ParsePrefix(r); err == nil && prefix.Contains(ip) {
			return true
		}
	}
	return false
}

// containedElsewhere says whether a ServiceCIDR of another name contains an address, and is not
// being deleted.
func containedElsewhere(ranges []*unstructured.Unstructured, name, address string) bool {
	return slices.ContainsFunc(ranges, func(o *unstructured.Unstructured) bool {
		return o.GetName() != name && o.GetDeletionTimestamp() == nil && contains(o, address)
	})
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
