package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
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

// leadAtNode is for a DaemonSet whose pods seem to work on what is on their node, and that may
// remove the finalizer of an object: where that names a Node that does not exist or is not ready,
// or on which no pod of it works, the others are of no use.
func (e *Examiner) leadAtNode(ctx context.Context, b core.Responsible, lead *unstructured.Unstructured,
	f core.Finding) core.Finding {
	if lead.GetKind() != "DaemonSet" || !e.Actors.WorksByNode(ctx, lead) {
		return f
	}
	for _, n := range e.nodesNamed(ctx, b.Object, append([]string{"node", "node.name", "nodeRef.name"}, nodeFields...)) {
		says := fmt.Sprintf("its %s is %s", n.field, n.value)
		if n.node == "" && !n.sure {
			says += ", and no Node has that name"
			f.Evidence = append(core.ObservedAt(cluster.Place(b.Object, n.field), says), f.Evidence...)
			f.Sentence = unsure(b) + "; " + ofTheObject(says)
			return f
		}
		by := b
		by.Name, by.Node = e.Ref(lead).Located(), cmp.Or(n.node, n.value)
		if at := e.atNode(ctx, by, f); len(at) > 0 {
			at[0].Evidence = append(core.ObservedAt(cluster.Place(b.Object, n.field), says), at[0].Evidence...)
			at[0].Sentence = "it is not known who removes the finalizer; " + at[0].Sentence
			at[0].Commands = f.Commands
			return at[0]
		}
		if sign := e.Actors.OnNode(ctx, lead, by.Node); sign.Life == actor.Dead {
			f.Evidence = append(append(core.ObservedAt(cluster.Place(b.Object, n.field), says),
				core.ObservedAt(sign.From, sign.Says)...), f.Evidence...)
			f.Sentence = unsure(b) + "; " + sign.Says
			return f
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
	for _, n := range e.nodesNamed(ctx, b.Object, nodeFields) {
		if n.node != "" || !strings.HasPrefix(n.field, "spec.") {
			continue
		}
		names := fmt.Sprintf("its %s is %s, and no Node has that name", n.field, n.value)
		f.Evidence = append(core.ObservedAt(cluster.Place(b.Object, n.field), names), f.Evidence...)
		if says.what == "" {
			f.Remedy = phrase.Sentence(fmt.Sprintf("find out by what it logs whether %s needs the node: another may take the "+
				"object over once %s is restarted; or bring the node back under its name", b.Name, b.Name)) + b.OnceRunning()
		}
		break
	}
	return f
}

// atLostNode completes a finding about a finalizer of which nobody knows who removes it, on a pod of
// a Node that does not exist, or on a custom resource that seems to be for one: an agent on that Node,
// such as a kubelet of somebody's own (https://github.com/tuist/tuist/issues/11889), is gone with it.
func (e *Examiner) atLostNode(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	lost := nodeNamed{}
	if core.OfType(cluster.Pods)(e.Ref(b.Object)) {
		lost = nodeNamed{field: "spec.nodeName", value: status.Nested(b.Object, "spec", "nodeName")}
		if lost.value == "" || !e.Node(ctx, lost.value).Gone {
			return f
		}
	} else if !cluster.BuiltIn(b.Object.GroupVersionKind().Group) {
		all := e.nodesNamed(ctx, b.Object, nodeFields)
		i := slices.IndexFunc(all, func(n nodeNamed) bool { return n.node == "" && n.sure })
		if i < 0 {
			return f
		}
		lost = all[i]
	}
	if lost.field == "" {
		return f
	}
	says := fmt.Sprintf("its %s is %s, and Node %[2]s does not exist", lost.field, lost.value)
	f.Evidence = append(core.ObservedAt(cluster.Place(b.Object, lost.field), says), f.Evidence...)
	f.Sentence = unsure(b) + "; " + ofTheObject(says)
	f.Remedy = fmt.Sprintf("If an agent on Node %s is to remove the finalizer, it is gone with that: once the machine is certainly off "+
		"for good, remove the finalizer by hand. ", lost.value) + f.Usual()
	return f
}
