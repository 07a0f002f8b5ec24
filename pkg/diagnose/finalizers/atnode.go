package finalizers

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// atNode is for an actor that does its work on a node that does not exist, or is not ready: the cause
// is one for all that it does there.
func (e *Examiner) atNode(ctx context.Context, b core.Responsible, f core.Finding) []core.Finding {
	if b.Node == "" {
		return nil
	}
	n := e.Node(ctx, b.Node)
	if !n.Gone && !n.NotReady {
		return nil
	}
	f.Code, f.About = core.NodeNotReady, &n.Ref
	f.Evidence = append(slices.Clone(n.Evidence), f.Evidence...)
	f.Sentence = fmt.Sprintf("%s does its work on Node %s, which is not ready", b.Name, b.Node)
	f.Remedy = "Recover the node. If the machine is certainly off for good, remove the finalizer by hand." + b.OnceRunning()
	if n.Gone {
		f.Code, f.Sentence = core.NodeGone, fmt.Sprintf("%s does its work on Node %s, which does not exist", b.Name, b.Node)
		f.Remedy = "Bring the node back under its name. If the machine is certainly gone for good, " +
			"remove the finalizer by hand." + b.OnceRunning()
	}
	f.Commands = []core.Step{core.At(e.Ref(b.Object), core.Describe()).Safely("shows what the object says of it"),
		e.ByHand(b.Object, b.Actor)}
	return []core.Finding{f}
}

// leadAtNode is for a DaemonSet that may remove the finalizer of an object that names a Node which does
// not exist, or is not ready: its pods work on what is on their node.
func (e *Examiner) leadAtNode(ctx context.Context, b core.Responsible, lead *unstructured.Unstructured,
	f core.Finding) core.Finding {
	if lead.GetKind() != "DaemonSet" {
		return f
	}
	for _, in := range []string{"spec", "status"} {
		for _, field := range append([]string{"node", "node.name", "nodeRef.name"}, nodeFields...) {
			name := status.FieldOr(b.Object, in+"."+field, "")
			if len(validation.IsDNS1123Subdomain(name)) > 0 {
				continue
			}
			b.Name, b.Node = e.Ref(lead).Located(), name
			if at := e.atNode(ctx, b, f); len(at) > 0 {
				at[0].Evidence = append(core.ObservedAt(cluster.Place(b.Object, in+"."+field),
					fmt.Sprintf("its %s.%s is %s", in, field, name)), at[0].Evidence...)
				at[0].Sentence = "it is not known who removes the finalizer; " + at[0].Sentence
				at[0].Commands = f.Commands
				return at[0]
			}
		}
	}
	return f
}

// nodeFields are where custom resources name the Node that they are for.
var nodeFields = []string{"nodeName", "nodeID", "ownerNodeID"}

// forNode adds to a finding about an actor that lives that a custom resource seems to name a Node
// which does not exist. No pack says that the field is one, nor whether the actor needs the node.
func (e *Examiner) forNode(ctx context.Context, b core.Responsible, f core.Finding, says saying) core.Finding {
	if o := b.Object; o.GetDeletionTimestamp() == nil || cluster.BuiltIn(o.GroupVersionKind().Group) {
		return f
	}
	for _, field := range nodeFields {
		name := status.Nested(b.Object, "spec", field)
		if len(validation.IsDNS1123Subdomain(name)) > 0 || !e.Node(ctx, name).Gone {
			continue
		}
		names := fmt.Sprintf("its spec.%s is %s, and no Node is called so", field, name)
		f.Evidence = append(core.ObservedAt(cluster.Place(b.Object, "spec."+field), names), f.Evidence...)
		if says.what == "" {
			f.Remedy = phrase.Sentence(fmt.Sprintf("find out by what it logs whether %s needs the node: another may take the "+
				"object over once %s is restarted; or bring the node back under its name", b.Name, b.Name)) + b.OnceRunning()
		}
		break
	}
	return f
}
