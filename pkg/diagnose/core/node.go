package core

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Node is what is known of a node, as of that of a pod.
type Node struct {
	Ref            v1alpha1.ObjectRef
	Gone, NotReady bool
	// By says who does the work of a kubelet there, if it is a node that a program made up.
	By string
	// Unread says that it could not be read: it is not known to be gone, nor to work.
	Unread   bool
	Evidence []v1alpha1.Observation
}

// unreachable is the taint of a node from which nothing is heard.
const unreachable = "node.kubernetes.io/unreachable"

// nodeLeases is where each kubelet renews a Lease with the name of its node.
const nodeLeases = "kube-node-lease"

// Node looks whether a node exists, and is ready.
func (e *Examination) Node(ctx context.Context, name string) Node {
	n := Node{Ref: v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Node", Resource: cluster.Nodes.Resource, Name: name}}
	o, err := e.Reader.GetObject(ctx, cluster.Nodes, "", name)
	switch {
	case err != nil:
		n.Unread, n.Evidence = true, Seen("Node %s cannot be read: %v", name, err)
		return n
	case o == nil:
		n.Gone = true
		n.Evidence = Seen("Node %s does not exist", name)
		return n
	}
	n.Ref, n.By = e.Ref(o), standsIn(o)
	says, ready := actor.ReadNode(o, e.Now)
	n.NotReady, n.Evidence = !ready, Observed(says)
	if actor.Tainted(o, unreachable) {
		n.NotReady = true
		n.Evidence = append(n.Evidence, Seen("Node %s has the taint %s", name, unreachable)...)
	}
	n.Evidence = append(n.Evidence, e.kubelet(ctx, name)...)
	return n
}

// kubelet says what the Lease of a kubelet shows. It is evidence alone: the node controller makes
// the condition of it.
func (e *Examination) kubelet(ctx context.Context, name string) []v1alpha1.Observation {
	o, err := e.Reader.GetObject(ctx, cluster.Leases, nodeLeases, name)
	if err != nil || o == nil {
		return nil
	}
	return ObservedAt(cluster.Place(o, "spec.renewTime"), actor.ReadLease(o, e.Now).Says)
}

// standsIn says who does the work of a kubelet on a node without one, by the label or annotation that
// it gives its nodes; empty for all others. The label type anybody may use, and a virtual kubelet renews
// a Lease too: it reports no boot of a machine, as a kubelet does
// (https://github.com/virtual-kubelet/virtual-kubelet, node/nodeutil/controller.go).
func standsIn(node *unstructured.Unstructured) string {
	for _, by := range []struct{ key, value, who string }{
		// https://github.com/loft-sh/vcluster, pkg/controllers/resources/nodes/fake_syncer.go
		{"vcluster.loft.sh/fake-node", "true", "the syncer of vCluster in the host cluster"},
		{"kwok.x-k8s.io/node", "fake", "the controller of kwok"},
		{"type", "virtual-kubelet", "the provider of its virtual kubelet"},
	} {
		if by.key == "type" && status.Nested(node, "status", "nodeInfo", "bootID") != "" {
			continue
		}
		if node.GetLabels()[by.key] == by.value || node.GetAnnotations()[by.key] == by.value {
			return by.who
		}
	}
	return ""
}
