package actor

import (
	"context"
	"net/netip"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// RangeFinalizer keeps a ServiceCIDR while an IPAddress is in it and in no other
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controller/servicecidrs/servicecidrs_controller.go#L62).
const RangeFinalizer = "networking.k8s.io/service-cidr-finalizer"

var (
	serviceCIDRs = schema.GroupResource{Group: "networking.k8s.io", Resource: "servicecidrs"}
	ipAddresses  = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}
)

// addressAllocator is who makes the IPAddresses of Services. The controller counts no others
// (pkg/registry/core/service/ipallocator/ipallocator.go).
const addressAllocator = "ipallocator.k8s.io"

// AddressesIn returns the IPAddresses of Services that only a ServiceCIDR contains.
func AddressesIn(ctx context.Context, r *cluster.Reader, o *unstructured.Unstructured) ([]*unstructured.Unstructured,
	error) {
	ranges, err := r.ListObjects(ctx, serviceCIDRs, "", cluster.Selection{})
	if err != nil {
		return nil, err
	}
	return using(ctx, r, ipAddresses, "", func(address *unstructured.Unstructured) bool {
		return address.GetLabels()[networkingv1.LabelManagedBy] == addressAllocator &&
			contains(o, address.GetName()) && !containedElsewhere(ranges, o.GetName(), address.GetName())
	})
}

// contains reports whether one of the ranges of a ServiceCIDR contains an address.
func contains(o *unstructured.Unstructured, address string) bool {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	ranges, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "cidrs")
	return slices.ContainsFunc(ranges, func(r string) bool {
		prefix, err := netip.ParsePrefix(r)
		return err == nil && prefix.Contains(ip)
	})
}

// containedElsewhere reports whether a ServiceCIDR of another name contains an address. That it is
// being deleted as well makes no difference to the controller (canDeleteCIDR).
func containedElsewhere(ranges []*unstructured.Unstructured, name, address string) bool {
	return slices.ContainsFunc(ranges, func(o *unstructured.Unstructured) bool {
		return o.GetName() != name && contains(o, address)
	})
}
