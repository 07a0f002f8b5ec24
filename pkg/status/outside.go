package status

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// named are the annotations in which a controller keeps the name of what an object stands for.
var named = []string{
	"crossplane.io/external-name",
	"serviceoperator.azure.com/resource-id",
	"cnrm.cloud.google.com/resource-id",
}

// Outside says what an object stands for outside the cluster, as far as the object names it: what
// is left there if its finalizer is removed, and can then be found no more. The clauses hold text
// that the object supplies.
func Outside(o *unstructured.Unstructured) []string {
	var all []string
	annotations := o.GetAnnotations()
	for _, key := range named {
		if name := annotations[key]; name != "" {
			all = append(all, fmt.Sprintf("annotation %s names %s", key, name))
		}
	}
	if handle := Nested(o, "spec", "csi", "volumeHandle"); handle != "" {
		all = append(all, fmt.Sprintf("its volume is %s of %s", handle, Nested(o, "spec", "csi", "driver")))
	}
	for _, path := range [][]string{{"spec", "providerID"}, {"status", "providerID"},
		{"status", "ackResourceMetadata", "arn"}, {"status", "resourceID"}, {"status", "externalID"}} {
		if id := Nested(o, path...); id != "" {
			all = append(all, fmt.Sprintf("%s.%s is %s", path[0], path[len(path)-1], id))
		}
	}
	for _, address := range balancers(o) {
		all = append(all, "its load balancer is "+address)
	}
	return all
}

// balancers are the addresses of a Service's or an Ingress's load balancers.
func balancers(o *unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "loadBalancer", "ingress")
	var all []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		for _, key := range []string{"hostname", "ip"} {
			if address := Text(m, key); address != "" && !slices.Contains(all, address) {
				all = append(all, address)
			}
		}
	}
	return all
}
