package finalizers

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// nodeNamed is a field of an object that may name a Node: the one that it names, empty if no Node is
// called like its value. Sure says that the field is for the names of Nodes.
type nodeNamed struct {
	field, value, node string
	sure               bool
}

// nodesNamed are those of some fields of the spec and the status of an object that have a value
// which a Node can have for a name; none if Nodes cannot be listed.
func (e *Examiner) nodesNamed(ctx context.Context, o *unstructured.Unstructured, fields []string) (all []nodeNamed) {
	var nodes []*unstructured.Unstructured
	for _, in := range []string{"spec", "status"} {
		for _, key := range fields {
			n := nodeNamed{field: in + "." + key}
			n.value = status.FieldOr(o, n.field, "")
			if len(validation.IsDNS1123Subdomain(n.value)) > 0 || ofAnotherKind(o, n.field) {
				continue
			}
			if nodes == nil {
				var err error
				if nodes, err = e.Reader.ListObjects(ctx, cluster.Nodes, "", cluster.Selection{}); err != nil {
					return nil // and the reader has noted the gap
				}
			}
			n.node = nodeCalled(nodes, n.value)
			_, notAddress := netip.ParseAddr(n.value)
			n.sure = n.node != "" || notAddress != nil && e.namesNodes(ctx, o, n, nodes)
			all = append(all, n)
		}
	}
	return all
}

// ofAnotherKind reports whether a kind beside a name says that it is none of a Node.
func ofAnotherKind(o *unstructured.Unstructured, field string) bool {
	beside, named := strings.CutSuffix(field, ".name")
	kind := status.FieldOr(o, beside+".kind", "Node")
	return named && kind != "Node"
}

// nodeCalled is the Node that has a name, or of which that is an address, the host name or the end
// of the id at its provider; empty if there is none.
func nodeCalled(nodes []*unstructured.Unstructured, called string) string {
	for _, node := range nodes {
		addresses, _, _ := unstructured.NestedSlice(node.Object, "status", "addresses")
		if node.GetName() == called || node.GetLabels()[corev1.LabelHostname] == called ||
			strings.HasSuffix(status.Nested(node, "spec", "providerID"), "/"+called) ||
			slices.ContainsFunc(addresses, func(item any) bool {
				m, _ := item.(map[string]any)
				return status.Text(m, "address") == called
			}) {
			return node.GetName()
		}
	}
	return ""
}

// namesNodes reports whether a field whose value no Node has is one for names of Nodes: in another object
// of the type it names one; or no other says anything else in it, and it is called after that.
func (e *Examiner) namesNodes(ctx context.Context, o *unstructured.Unstructured, n nodeNamed,
	nodes []*unstructured.Unstructured) bool {
	r, served := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	others := false
	if served && !e.Many && counted(e.Graph, o.GetNamespace())[r.GroupResource()] <= longestNaming {
		for _, by := range e.List(ctx, r, o.GetNamespace()) {
			value := status.FieldOr(by, n.field, n.value)
			if nodeCalled(nodes, value) != "" {
				return true
			}
			others = others || value != n.value
		}
	}
	return !others && (strings.HasSuffix(n.field, ".nodeName") || strings.HasSuffix(n.field, ".nodeRef.name"))
}
