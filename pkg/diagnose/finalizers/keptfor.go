package finalizers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// bystander is another object that may be why a finalizer stays, though the object does not say so:
// what is seen of it, as a clause, what to do about it, and how to look at it.
type bystander struct {
	seen         []v1alpha1.Observation
	says, remedy string
	look         []core.Step
}

// forOthers completes a finding in which nothing is seen of what somebody waits for with the first
// bystander that there is.
func (e *Examiner) forOthers(ctx context.Context, b core.Responsible, f core.Finding) core.Finding {
	if f.Sentence != "" || b.Object.GetDeletionTimestamp() == nil || e.Many {
		return f
	}
	for _, find := range []func(context.Context, core.Responsible) bystander{leftAlone, e.undrainable,
		e.unwellNamesake, e.ofItsLabel, e.byOldRole, e.neverMade} {
		by := find(ctx, b)
		if by.says == "" {
			continue
		}
		f.Sentence, f.Evidence = unsure(b)+"; "+by.says, append(by.seen, f.Evidence...)
		if f.Code == core.FinalizerActorAlive {
			f.Sentence = b.Name + " is alive, and may not get any further: " + by.says
			f.Remedy = phrase.Sentence(b.Name+" is alive") + " " + by.remedy + b.OnceRunning()
		} else {
			f.Remedy = by.remedy + " " + f.Usual()
		}
		f.Commands = b.Ordered(slices.Concat(by.look, f.Commands))
		return f
	}
	return f
}

// leftAlone is for an object that its actor leaves alone by what the object says, as an Ingress of
// the class of another controller, where nobody sees whether that actor lives
// (https://github.com/kubernetes/ingress-gce/pull/825).
func leftAlone(_ context.Context, b core.Responsible) (by bystander) {
	for _, u := range b.Untaken {
		if u.Guessed() || u.Remedy == "" {
			continue
		}
		return bystander{seen: []v1alpha1.Observation{u.Evidence}, says: ofTheObject(u.Evidence.Says), remedy: u.Remedy}
	}
	return by
}

// undrainable is for an object that names a Node which is cordoned, as whoever drains it leaves it,
// with a pod that a PodDisruptionBudget does not let go: few controllers of machines say so
// (https://github.com/gardener/machine-controller-manager/issues/997).
func (e *Examiner) undrainable(ctx context.Context, b core.Responsible) (by bystander) {
	if cluster.BuiltIn(b.Object.GroupVersionKind().Group) {
		return by
	}
	for _, n := range e.nodesNamed(ctx, b.Object, append([]string{"node", "node.name", "nodeRef.name"}, nodeFields...)) {
		node, err := e.Reader.GetObject(ctx, cluster.Nodes, "", n.node)
		if n.node == "" || err != nil || node == nil {
			continue
		}
		if cordoned, _, _ := unstructured.NestedBool(node.Object, "spec", "unschedulable"); !cordoned {
			continue
		}
		pods, err := e.Reader.ListObjects(ctx, cluster.Pods, "",
			cluster.Selection{Fields: fields.OneTermEqualSelector("spec.nodeName", n.node).String()})
		if err != nil {
			return by // and the reader has noted the gap
		}
		for _, o := range pods {
			var pod corev1.Pod
			if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &pod) != nil ||
				!evicted(&pod, corev1.TaintNodeUnschedulable) {
				continue
			}
			budget := e.holds.budget(ctx, &pod)
			if budget == nil {
				continue
			}
			by.seen = slices.Concat(by.seen, core.ObservedAt(cluster.Place(budget, "status.disruptionsAllowed"),
				cluster.Located(budget)+" allows no disruption, and selects "+cluster.Located(o)+" on Node "+n.node))
			if by.says == "" {
				by.says = fmt.Sprintf("the %s of the object names Node %s, which is cordoned, and %s allows no eviction of %s there", n.field, n.node,
					cluster.Located(budget), cluster.Located(o))
				by.remedy = "If it drains the node first, the budget prevents that: make the pods ready, or change the budget."
				by.look = []core.Step{core.At(e.Ref(budget), core.Describe()).Safely("shows how many pods it wants, and how many are healthy"),
					core.At(e.Ref(o), core.Describe()).Safely("shows why the pod is not ready, if it is not")}
			}
		}
	}
	return by
}

// unwellNamesake is for a finalizer that ends in the name of an object of the same API group which
// says that it is not healthy: that of a cluster of Rancher that is not reachable
// (https://github.com/rancher/rancher/issues/20944).
func (e *Examiner) unwellNamesake(ctx context.Context, b core.Responsible) (by bystander) {
	ref := e.endingOf(b.Object, b.Finalizer)
	if ref.Name == "" {
		return by
	}
	o, err := e.Reader.GetObject(ctx, ref.GroupResource(), ref.Namespace, ref.Name)
	if err != nil || o == nil {
		return by
	}
	field, says := e.needs.unwell(o)
	if says == "" {
		return by
	}
	by.says = fmt.Sprintf("the finalizer ends in the name of %s, which is not healthy: %s", cluster.Located(o), says)
	by.seen = core.ObservedAt(cluster.Place(o, field), by.says)
	by.remedy = fmt.Sprintf("Repair %s first: what is to be cleaned up may be there.", cluster.Located(o))
	by.look = []core.Step{core.At(e.Ref(o), core.Describe()).Safely("shows what is said of it")}
	return by
}

// ofItsLabel is for an object of Kubernetes' own with a label of the domain of its finalizer that
// names a custom resource of that domain beside it, which nobody deletes: its controller may remove
// the finalizer only in the course of that deletion (https://github.com/KBVE/kbve/pull/13224).
func (e *Examiner) ofItsLabel(ctx context.Context, b core.Responsible) (by bystander) {
	o := b.Object
	domain, _, slashed := strings.Cut(b.Finalizer, "/")
	if !slashed || !cluster.BuiltIn(o.GroupVersionKind().Group) {
		return by
	}
	for _, key := range slices.Sorted(maps.Keys(o.GetLabels())) {
		of, _, _ := strings.Cut(key, "/")
		if of != domain {
			continue
		}
		for _, r := range e.Catalog.Resources {
			if cluster.BuiltIn(r.Group) || r.Group != domain && !strings.HasSuffix(r.Group, "."+domain) {
				continue
			}
			name := o.GetLabels()[key]
			owner, err := e.Reader.GetObject(ctx, r.GroupResource(), r.Place(o.GetNamespace()), name)
			if err != nil || owner == nil || owner.GetDeletionTimestamp() != nil {
				continue
			}
			by.says = fmt.Sprintf("label %s of the object names %s, which is not being deleted", key, cluster.Located(owner))
			by.seen = core.ObservedAt(cluster.Place(o, "metadata.labels"), by.says)
			by.remedy = fmt.Sprintf("Its controller may remove the finalizer only when %[1]s is deleted. If %[1]s does not need the object "+
				"any more, remove the finalizer by hand. If it does, create the object again afterwards.", cluster.Located(owner))
			by.look = []core.Step{core.At(e.Ref(owner), core.Describe()).Safely("shows whether it still uses the object")}
			return by
		}
	}
	return by
}

// byOldRole is for an actor whose role has rights an API group that is no longer served, and none
// of the one in which Kubernetes serves the same now: a controller that lists that at each turn
// comes to nothing else (https://github.com/druid-io/druid-operator/issues/182).
func (e *Examiner) byOldRole(ctx context.Context, b core.Responsible) (by bystander) {
	for _, w := range b.Workloads {
		for _, o := range e.Actors.Outgrown(ctx, w, e.MayBeServed) {
			account, what := actor.Account(w), o.Now.GroupResource().String()
			review, err := e.Reader.ReviewOf(ctx, account,
				cluster.Access{Verb: "list", Type: o.Now.Type, Namespace: o.Now.Place(b.Object.GetNamespace())})
			if err != nil || review.Permission != cluster.Denied {
				continue
			}
			by.says = fmt.Sprintf("RBAC lets %s use %s, whose API group is not served, and does not let it list %s", cluster.Located(w),
				o.Was, what)
			by.seen = core.Seen("%s", by.says)
			by.remedy = fmt.Sprintf("If its log says that it cannot list %s, add them to its role.", what)
			by.look = []core.Step{e.may(b, w, "list", what)}
			return by
		}
	}
	return by
}

// neverMade is for an object of Kubernetes' own that names nothing of what its actor, which lives,
// makes for it outside the cluster, as a Service without an address: its controller adds the
// finalizer before it makes anything
// (https://github.com/kubernetes/cloud-provider-openstack/pull/1829). Of one that is not seen
// outside says so.
func (e *Examiner) neverMade(_ context.Context, b core.Responsible) (by bystander) {
	x := unnamed(b)
	if x == nil || b.Life != actor.Alive || !cluster.BuiltIn(b.Object.GroupVersionKind().Group) {
		return by
	}
	by.says = fmt.Sprintf("the object names no %s", x.Is)
	by.seen = namesNone(b, x)
	by.remedy = fmt.Sprintf("Check whether a %s was created for it anyway. If not, nothing is left to clean up, and the finalizer can "+
		"be removed by hand.", x.Is)
	return by
}
