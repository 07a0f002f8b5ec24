package actor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

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
		_, out := leavesOut(w, s.about, s.isKnown())
		return out && w.GetNamespace() == o.GetNamespace() && slices.Contains(names, w.GetName())
	}) {
		s.leases = append(s.leases, o)
		s.add(s.readLease(o))
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
	name := cluster.Located(o)
	holder := status.Nested(o, "spec", "holderIdentity")
	renewed, err := time.Parse(time.RFC3339, status.Nested(o, "spec", "renewTime"))
	past := now.Sub(renewed)
	// A leader gives up after one duration, and another takes over within the next; several are no
	// hiccup.
	lasts := time.Duration(number(o, 15, "spec", "leaseDurationSeconds")) * time.Second
	stale := max(minStale, 4*lasts)
	sign := Sign{Life: Unknown, From: cluster.Place(o, "spec.renewTime")}
	switch {
	case holder == "":
		sign.Says, sign.From = name+" is held by nobody", cluster.Place(o, "spec.holderIdentity")
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

// readLease is ReadLease as of what is read: where the time of a dump is not known, it is no witness
// of death.
func (f *Finder) readLease(o *unstructured.Unstructured) Sign {
	sign := ReadLease(o, f.now())
	if sign.Life == Dead && !f.reader.TimeIsKnown() {
		sign.Life, sign.Says = Unknown, sign.Says+", by the time of the files, which a copy can change"
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

// Unled is a Lease that a pod of an actor took and no longer renews, and that nobody took since. The
// pods are ready, and none of them leads, so that what only a leader does is not done.
type Unled struct {
	Lease, Pod, Workload *unstructured.Unstructured
	Evidence             v1alpha1.Observation
}

// Leaderless returns whether no pod of an actor that is alive seems to lead: nobody renews its
// Leases any more. It may be that leader election was switched off since.
func (f *Finder) Leaderless(a Actor) bool {
	return a.Life == Alive && len(a.leases) > 0 && !slices.ContainsFunc(a.leases, func(l *unstructured.Unstructured) bool {
		return f.readLease(l).Life != Dead
	})
}

// addUnled finds out whether a pod of an actor that is alive leads, by the Leases that the packs name,
// or that have the domain of the finalizer. A Lease of a pod that is gone shows nothing: leader
// election may be off since then; and another workload of the same program may work without it.
// Where there is no such Lease, those that its pods took and gave up are evidence: they can be for
// other work.
func (f *Finder) addUnled(ctx context.Context, a *Actor) {
	if a.Life != Alive || len(a.leases) > 0 && !f.Leaderless(*a) {
		return
	}
	var all []Unled
	var others []*unstructured.Unstructured // which may do the work, and have no leader
	for _, w := range a.Workloads {
		if ReadWorkload(w).Life != Alive {
			continue
		}
		given := f.givenUp(ctx, w, a.leases)
		if all = append(all, given...); len(given) == 0 {
			others = append(others, w)
		}
	}
	if slices.ContainsFunc(others, func(w *unstructured.Unstructured) bool {
		return len(a.leases) == 0 || slices.ContainsFunc(all, func(u Unled) bool { return sameImages(u.Workload, w) })
	}) {
		return
	}
	if len(a.leases) > 0 {
		a.Unled = all
		return
	}
	for _, u := range all {
		a.leases, a.Evidence = append(a.leases, u.Lease), append(a.Evidence, u.Evidence)
	}
}

// givenUp returns the Leases that pods of a workload took and no longer renew: of those that are
// given, or of all in its namespace; none if one of them is renewed, or if they cannot be read.
func (f *Finder) givenUp(ctx context.Context, w *unstructured.Unstructured,
	leases []*unstructured.Unstructured) []Unled {
	if len(leases) == 0 {
		var err error
		if leases, err = f.reader.ListObjects(ctx, cluster.Leases, w.GetNamespace(), cluster.Selection{}); err != nil {
			return nil
		}
	}
	var all []Unled
	for _, lease := range leases {
		holder, _, _ := strings.Cut(status.Nested(lease, "spec", "holderIdentity"), "_")
		if !strings.HasPrefix(holder, w.GetName()+"-") || lease.GetNamespace() != w.GetNamespace() {
			continue
		}
		sign := f.readLease(lease)
		if sign.Life != Dead {
			return nil
		}
		pods, _ := f.podsSelectedBy(ctx, w)
		for _, pod := range pods {
			if tookIt(pod, lease, holder) {
				all = append(all, Unled{lease, pod, w,
					v1alpha1.Observation{Says: sign.Says + ", whose pod still exists", From: sign.From}})
			}
		}
	}
	return all
}

// tookIt returns whether a pod is the one that renewed a Lease last. That of a StatefulSet has the
// name of the one before it.
func tookIt(pod, lease *unstructured.Unstructured, holder string) bool {
	renewed, err := time.Parse(time.RFC3339, status.Nested(lease, "spec", "renewTime"))
	started, failed := time.Parse(time.RFC3339, status.Nested(pod, "status", "startTime"))
	return err == nil && failed == nil && !started.After(renewed) && pod.GetName() == holder &&
		pod.GetDeletionTimestamp() == nil
}

// WorksByNode reports whether the pods of a DaemonSet seem to work on what is on their node: it is
// not for the nodes of a control plane alone, and none of its pods leads, as that of a controller
// for all does.
func (f *Finder) WorksByNode(ctx context.Context, w *unstructured.Unstructured) bool {
	selector, _, _ := unstructured.NestedStringMap(w.Object, "spec", "template", "spec", "nodeSelector")
	for key := range selector {
		if key == "node-role.kubernetes.io/control-plane" || key == "node-role.kubernetes.io/master" {
			return false
		}
	}
	leases, err := f.reader.ListObjects(ctx, cluster.Leases, w.GetNamespace(), cluster.Selection{})
	if err != nil {
		return false // and the reader has noted the gap
	}
	pods, err := f.podsSelectedBy(ctx, w)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(leases, func(lease *unstructured.Unstructured) bool {
		holder, _, _ := strings.Cut(status.Nested(lease, "spec", "holderIdentity"), "_")
		named := strings.Contains(lease.GetName(), w.GetName()) || strings.Contains(w.GetName(), lease.GetName())
		return slices.ContainsFunc(pods, func(pod *unstructured.Unstructured) bool {
			return pod.GetName() == holder || named && holder != "" && status.Nested(pod, "spec", "nodeName") == holder
		})
	})
}
