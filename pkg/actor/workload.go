package actor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	if scope, out := leavesOut(o, s.about); out {
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

// among says whether an object is one of some.
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
		past := s.now().Sub(since)
		if sign.starting = past < patience; sign.starting {
			sign.Says += ": " + verb + " " + phrase.Ago(past)
			return sign
		}
		sign.Life, sign.Says = Dead, sign.Says+", and has worked nowhere for "+phrase.Ago(past)
		return sign
	case idle(o):
		return sign
	}
	return s.unready(ctx, o, sign)
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
		s.missed("what runs of %s on Node %s is not known: %v", title(o), name, err)
		sign.Says, sign.From, sign.starting = title(o)+" may have a pod on Node "+name, place(o, "status"), true
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
	sign.Says, sign.From = title(o)+" has no pod on Node "+name, place(o, "status")
	if sign.starting = !observed(o) || s.now().Sub(since) < patience; !sign.starting {
		sign.Life = Dead
	}
	return sign
}

// observed says whether the status of a workload is of what it is now.
func observed(o *unstructured.Unstructured) bool {
	return number(o, 0, "status", "observedGeneration") >= max(1, o.GetGeneration())
}

// ReadWorkload says how many pods of a Deployment, StatefulSet or DaemonSet are ready. One that is
// scaled to 0 is dead. One that should have pods and has none that is ready may be starting: for
// how long that has been so is not looked at here.
func ReadWorkload(o *unstructured.Unstructured) Sign {
	sign := Sign{Life: Unknown, From: place(o, "status")}
	wanted, ready := replicas(o)
	switch {
	case ready > 0:
		sign.Life, sign.Says = Alive, fmt.Sprintf("%s has %d of %s ready", title(o), ready, phrase.Count(int(wanted), "pod"))
	case idle(o):
		sign.Says = title(o) + " is meant for no node"
	case wanted == 0:
		return Sign{Life: Dead, Says: title(o) + " is scaled to 0", From: place(o, "spec.replicas"), Scaled: true}
	default:
		sign.Says = fmt.Sprintf("%s has none of %s ready", title(o), phrase.Count(int(wanted), "pod"))
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

// idle says whether a workload is a DaemonSet that no node is meant for: that says nothing if its
// status may be from before it was looked at.
func idle(o *unstructured.Unstructured) bool {
	wanted, ready := replicas(o)
	return o.GetKind() == "DaemonSet" && wanted == 0 && ready == 0
}

// dated says whether it is known when the status of a DaemonSet was written, which only its
// controller does, whatever the program is called that runs it.
func dated(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetManagedFields(),
		func(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "status" && m.Time != nil })
}

// labelled looks at the workloads that a label selector selects, and at pods if there are none: one
// of several names that an installation can have is not known, its labels are.
func (s *search) labelled(ctx context.Context, selector string) {
	found := 0
	for _, t := range workloadTypes {
		all, err := s.reader.ListObjects(ctx, t.resource, "", cluster.Selection{Labels: selector})
		if err != nil {
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
		found = s.pods(ctx, selector)
	}
	if found == 0 {
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

// minStale is the least age at which a Lease that is not renewed counts as given up: leaders renew
// every few seconds, and clocks differ.
const minStale = time.Minute

// lease looks at Leases that a leader holds: where the pack says, and if there is none in any
// namespace, unless its name is one that many programs have. That one is absent says nothing:
// leader election may be off.
func (s *search) lease(ctx context.Context, pattern string) {
	namespace, name, _ := strings.Cut(pattern, "/")
	found := s.named(ctx, cluster.Leases, "Lease", pattern)
	if len(found) == 0 && !wild(namespace) && !generic(name) && !s.alive.Instance.Namespace {
		found = s.named(ctx, cluster.Leases, "Lease", "*/"+name)
	}
	for _, o := range found {
		s.leads(ctx, o)
	}
}

// leads takes in what a Lease shows, and the workload whose pod holds it. That of one that works on
// other objects shows nothing of the actor of this one.
func (s *search) leads(ctx context.Context, o *unstructured.Unstructured) {
	s.found = true
	held, names := s.holder(ctx, o)
	if !slices.ContainsFunc(slices.Concat(held, s.apart), func(w *unstructured.Unstructured) bool {
		_, out := leavesOut(w, s.about)
		return out && w.GetNamespace() == o.GetNamespace() && slices.Contains(names, w.GetName())
	}) {
		s.add(ReadLease(o, s.now()))
	}
	for _, w := range held {
		s.workload(ctx, w)
	}
}

// ReadLease says whether a Lease is held, and renewed. One that nobody holds may be between two
// leaders. One that has just run out is a sign of life still, and is not said to be renewed. One
// that is not renewed any more is a witness of death only after patience: a leader that is
// restarted is away for less.
func ReadLease(o *unstructured.Unstructured, now time.Time) Sign {
	name := title(o)
	holder := status.Nested(o, "spec", "holderIdentity")
	renewed, err := time.Parse(time.RFC3339, status.Nested(o, "spec", "renewTime"))
	past := now.Sub(renewed)
	// A leader gives up after one duration, and another takes over within the next; several are no
	// hiccup.
	lasts := time.Duration(number(o, 15, "spec", "leaseDurationSeconds")) * time.Second
	stale := max(minStale, 4*lasts)
	sign := Sign{Life: Unknown, From: place(o, "spec.renewTime")}
	switch {
	case holder == "":
		sign.Says, sign.From = name+" is held by nobody", place(o, "spec.holderIdentity")
	case err != nil:
		sign.Says = name + " was never renewed"
	case past > lasts && past <= stale:
		sign.Life, sign.Says = Alive, fmt.Sprintf("%s was renewed until %s ago, by %s", name, phrase.Ago(past), holder)
	case past <= stale:
		sign.Life, sign.Says = Alive, fmt.Sprintf("%s is renewed by %s", name, holder)
	default:
		sign.Says = fmt.Sprintf("%s was renewed last %s ago, by %s", name, phrase.Ago(past), holder)
		if sign.recent = past < max(patience, stale); !sign.recent {
			sign.Life = Dead
		}
	}
	return sign
}

// What a leader calls itself: the name of its pod, and often something behind it. The pod of a
// Deployment has two parts behind the Deployment's name, that of a StatefulSet has a number.
var (
	podOfDeployment  = regexp.MustCompile(`^([a-z0-9.-]+)-[a-z0-9]{6,10}-[a-z0-9]{5}$`)
	podOfStatefulSet = regexp.MustCompile(`^([a-z0-9.-]+)-[0-9]+$`)
)

// holder returns the workloads whose pod holds a Lease, or held it, if no other has been found, and
// their names. They are in the namespace of the Lease, as client-go has it by default, or cannot be
// found this way.
func (s *search) holder(ctx context.Context, lease *unstructured.Unstructured) (all []*unstructured.Unstructured,
	names []string) {
	pod, _, _ := strings.Cut(status.Nested(lease, "spec", "holderIdentity"), "_")
	for _, of := range []struct {
		form     *regexp.Regexp
		resource schema.GroupResource
	}{{podOfDeployment, cluster.Deployments}, {podOfStatefulSet, cluster.StatefulSets}} {
		m := of.form.FindStringSubmatch(pod)
		if m == nil {
			continue
		}
		if names = append(names, m[1]); len(s.workloads) > 0 {
			continue
		}
		if o, err := s.reader.GetObject(ctx, of.resource, lease.GetNamespace(), m[1]); err == nil && o != nil &&
			s.belongs(o.GetNamespace(), labelsOf(o)...) {
			all = append(all, o)
		}
	}
	return all, names
}
