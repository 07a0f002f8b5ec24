package actor

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Unled is a Lease that a pod of an actor took and no longer renews, and that nobody took since. The
// pods are ready, and none of them leads, so that what only a leader does is not done.
type Unled struct {
	Lease, Pod, Workload *unstructured.Unstructured
	Evidence             v1alpha1.Observation
}

// Leaderless returns whether no pod of an actor that is alive seems to lead: nobody renews its
// Leases any more. It may be that leader election was switched off since.
func (a Actor) Leaderless(now time.Time) bool {
	return a.Life == Alive && len(a.leases) > 0 && !slices.ContainsFunc(a.leases, func(l *unstructured.Unstructured) bool {
		return ReadLease(l, now).Life != Dead
	})
}

// addUnled finds out whether a pod of an actor that is alive leads, by the Leases that the packs name,
// or that have the domain of the finalizer. A Lease of a pod that is gone shows nothing: leader
// election may be off since then; and another workload of the same program may work without it.
// Where there is no such Lease, those that its pods took and gave up are evidence: they can be for
// other work.
func (f *Finder) addUnled(ctx context.Context, a *Actor) {
	if a.Life != Alive || len(a.leases) > 0 && !a.Leaderless(f.now()) {
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
		return len(a.leases) == 0 || slices.ContainsFunc(all, func(u Unled) bool { return sameProgram(u.Workload, w) })
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
		leases, _ = f.reader.ListObjects(ctx, cluster.Leases, w.GetNamespace(), cluster.Selection{})
	}
	var all []Unled
	for _, lease := range leases {
		holder, _, _ := strings.Cut(status.Nested(lease, "spec", "holderIdentity"), "_")
		if !strings.HasPrefix(holder, w.GetName()+"-") || lease.GetNamespace() != w.GetNamespace() {
			continue
		}
		sign := ReadLease(lease, f.now())
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
