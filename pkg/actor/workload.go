package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// workload takes in what a workload shows. One that has no ready pod is a witness of death only if
// that has been so for patience. One that works on other objects shows nothing of the actor of this
// one.
func (s *search) workload(ctx context.Context, o *unstructured.Unstructured) {
	if among(s.workloads, o) || among(s.apart, o) {
		return
	}
	s.found = true
	sign := s.assess(ctx, o)
	if scope, out := leavesOut(o, s.about, s.isKnown()); out {
		sign.watches = scope.watches()
		s.apart, s.others = append(s.apart, o), append(s.others, sign)
		return
	}
	s.workloads = append(s.workloads, o)
	if sign.Scaled {
		s.scaled = append(s.scaled, o)
	}
	s.add(s.inside(sign))
}

// among reports whether an object is one of some.
func among(all []*unstructured.Unstructured, o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(all, func(other *unstructured.Unstructured) bool { return other.GetUID() == o.GetUID() })
}

// inside is a sign of a workload or pod: of what normally runs outside the cluster, one that is
// down is no witness.
func (s *search) inside(sign Sign) Sign {
	if s.alive.Outside && sign.Life == Dead {
		sign.Life = Unknown
	}
	return sign
}

// assess says what a workload shows, with its pods where they are needed.
func (s *search) assess(ctx context.Context, o *unstructured.Unstructured) Sign {
	if node := s.node; node != "" && o.GetKind() == "DaemonSet" {
		s.local = true
		return s.onNode(ctx, o, node)
	}
	sign := ReadWorkload(o)
	switch {
	case sign.Life != Unknown:
		return sign
	case idle(o) && observed(o) && dated(o) && len(s.alive.DaemonSets) > 0 &&
		len(s.alive.Deployments)+len(s.alive.StatefulSets) == 0:
		since, verb := changed(o)
		if sign.starting = s.young(since); sign.starting {
			sign.Says += ": " + s.sinceWhen(verb, since)
			return sign
		}
		sign.Life, sign.Says = Dead, sign.Says+", and has worked nowhere for "+s.ago(since)
		return sign
	case idle(o):
		return sign
	}
	return s.unready(ctx, o, sign)
}

// OnNode says what the pod of a DaemonSet on a node shows.
func (f *Finder) OnNode(ctx context.Context, o *unstructured.Unstructured, name string) Sign {
	return (&search{Finder: f}).onNode(ctx, o, name)
}

// onNode says what the pod of a DaemonSet on a node shows. Its pods on other nodes show nothing.
func (s *search) onNode(ctx context.Context, o *unstructured.Unstructured, name string) Sign {
	sign := Sign{Life: Unknown, Says: "Node " + name + " does not exist", From: "Node " + name}
	node, err := s.reader.GetObject(ctx, cluster.Nodes, "", name)
	if err == nil && node == nil {
		sign.Life = Dead
		return sign
	}
	var pods []*unstructured.Unstructured
	if err == nil {
		pods, err = s.podsSelectedBy(ctx, o)
	}
	if err != nil {
		s.missed("what runs of %s on Node %s is not known: %v", cluster.Located(o), name, err)
		sign.Says, sign.From = cluster.Located(o)+" may have a pod on Node "+name, cluster.Place(o, "status")
		sign.starting = true
		return sign
	}
	for _, pod := range pods {
		if status.Nested(pod, "spec", "nodeName") == name {
			sign = s.assessPod(pod)
			sign.Says += ", on Node " + name
			return sign
		}
	}
	since, _ := changed(o)
	if c, _ := status.Find(node, "Ready"); c.Since.After(since) {
		since = c.Since
	}
	sign.Says, sign.From = cluster.Located(o)+" has no pod on Node "+name, cluster.Place(o, "status")
	if sign.starting = !observed(o) || s.young(since); !sign.starting {
		sign.Life = Dead
	}
	return sign
}

// observed reports whether the status of a workload is of what it is now.
func observed(o *unstructured.Unstructured) bool {
	return number(o, 0, "status", "observedGeneration") >= max(1, o.GetGeneration())
}

// ReadWorkload says how many pods of a Deployment, StatefulSet or DaemonSet are ready. One that is
// scaled to 0 is dead. One that should have pods and has none that is ready may be starting: for
// how long that has been so is not looked at here.
func ReadWorkload(o *unstructured.Unstructured) Sign {
	sign := Sign{Life: Unknown, From: cluster.Place(o, "status")}
	wanted, ready := replicas(o)
	switch {
	case ready > 0:
		sign.Life, sign.Says = Alive, fmt.Sprintf("%s has %d of %s ready", cluster.Located(o), ready, phrase.Count(int(wanted), "pod"))
	case idle(o):
		sign.Says = cluster.Located(o) + " is meant for no node"
	case wanted == 0:
		says := cluster.Located(o) + " is scaled to 0"
		if o.GetDeletionTimestamp() != nil {
			says += ", and is being deleted"
		}
		return Sign{Life: Dead, Says: says, From: cluster.Place(o, "spec.replicas"), Scaled: true}
	default:
		sign.Says = fmt.Sprintf("%s has none of %s ready", cluster.Located(o), phrase.Count(int(wanted), "pod"))
	}
	return sign
}

// replicas returns how many pods a workload should have, and how many are ready.
func replicas(o *unstructured.Unstructured) (wanted, ready int64) {
	if o.GetKind() == "DaemonSet" {
		return number(o, 0, "status", "desiredNumberScheduled"), number(o, 0, "status", "numberReady")
	}
	return number(o, 1, "spec", "replicas"), number(o, 0, "status", "readyReplicas")
}

// idle reports whether a workload is a DaemonSet that no node is meant for: that says nothing if
// its status may be from before it was looked at.
func idle(o *unstructured.Unstructured) bool {
	wanted, ready := replicas(o)
	return o.GetKind() == "DaemonSet" && wanted == 0 && ready == 0
}

// dated reports whether it is known when the status of a DaemonSet was written, which only its
// controller does, whatever the program is called that runs it.
func dated(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetManagedFields(),
		func(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "status" && m.Time != nil })
}

// labelled looks at the workloads that a label selector selects, and at pods if there are none: one
// of several names that an installation can have is not known, its labels are.
func (s *search) labelled(ctx context.Context, selector string) {
	found, complete := 0, true
	for _, t := range workloadTypes {
		all, err := s.reader.ListObjects(ctx, t.resource, "", cluster.Selection{Labels: selector})
		if err != nil {
			complete = false
			s.missed("%s cannot be listed: %v", t.resource, err)
		}
		for _, o := range all {
			elsewhere := s.alive.Instance.Namespace && watchesByName(o, s.about.GetNamespace())
			if elsewhere || s.belongs(o.GetNamespace(), labelsOf(o)...) {
				found++
				s.workload(ctx, o)
			}
		}
	}
	if found == 0 {
		pods, all := s.pods(ctx, selector)
		found, complete = pods, complete && all
	}
	if found == 0 && complete {
		s.seek("workload or pod with the label " + selector)
	}
}

// number reads an integer, or what stands for it where there is none.
func number(o *unstructured.Unstructured, otherwise int64, fields ...string) int64 {
	if n, ok, err := unstructured.NestedInt64(o.Object, fields...); ok && err == nil {
		return n
	}
	return otherwise
}

// Account returns the ServiceAccount that the pods of a workload run as.
func Account(workload *unstructured.Unstructured) cluster.ServiceAccount {
	path := []string{"spec", "template", "spec", "serviceAccountName"}
	if workload.GetKind() == "Pod" {
		path = []string{"spec", "serviceAccountName"}
	}
	name := status.Nested(workload, path...)
	if name == "" {
		name = "default"
	}
	return cluster.ServiceAccount{Namespace: workload.GetNamespace(), Name: name}
}

// maxNamespaces is up to how many namespaces workloads are listed one by one.
const maxNamespaces = 4

// workloadsIn returns the Deployments, StatefulSets and DaemonSets of some namespaces, and what
// could not be listed.
func (f *Finder) workloadsIn(ctx context.Context, namespaces []string) (all []*unstructured.Unstructured,
	unread []string) {
	if len(namespaces) > maxNamespaces {
		namespaces = []string{""}
	}
	var gaps []v1alpha1.Gap
	for _, namespace := range namespaces {
		for _, t := range workloadTypes {
			list, err := f.reader.ListObjects(ctx, t.resource, namespace, cluster.Selection{})
			if err != nil {
				gaps = append(gaps, unlisted(t.resource, namespace, err))
			}
			all = append(all, list...)
		}
	}
	return all, GapClauses(gaps...)
}

// podsOf returns the pods that run as a ServiceAccount: those of no workload that is known.
func (f *Finder) podsOf(ctx context.Context, a cluster.ServiceAccount) (pods []*unstructured.Unstructured,
	unread []string) {
	all, err := f.reader.ListObjects(ctx, cluster.Pods, a.Namespace,
		cluster.Selection{Fields: "spec.serviceAccountName=" + a.Name})
	if err != nil {
		unread = GapClauses(unlisted(cluster.Pods, a.Namespace, err))
	}
	return slices.DeleteFunc(slices.Clone(all), status.Ended), unread
}

// uses says that a workload runs as an account, and how many of its pods are ready.
func uses(o *unstructured.Unstructured) string {
	name := cluster.Located(o)
	wanted, ready := replicas(o)
	switch kind := o.GetKind(); {
	case kind == "Pod" && podReady(o):
		return name + " uses it, ready"
	case kind == "Pod":
		return name + " uses it, not ready"
	case wanted == 0 && kind != "DaemonSet":
		return name + " uses it, scaled to 0"
	}
	return fmt.Sprintf("%s uses it, %d of %d ready", name, ready, wanted)
}

// running reports whether a workload, or a pod, has something that is ready.
func running(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(uses(o), ", ready") || o.GetKind() != "Pod" && ReadWorkload(o).Life == Alive
}
