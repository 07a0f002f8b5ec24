package actor

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// workload takes in what a workload shows. One that has no ready pod is a witness of death only if
// that has been so for patience.
func (s *search) workload(ctx context.Context, o *unstructured.Unstructured) {
	if slices.ContainsFunc(s.workloads, func(w *unstructured.Unstructured) bool { return w.GetUID() == o.GetUID() }) {
		return
	}
	s.found, s.workloads = true, append(s.workloads, o)
	sign := s.assess(ctx, o)
	if sign.Scaled {
		s.scaled = append(s.scaled, o)
	}
	s.add(s.inside(sign))
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
	sign := ReadWorkload(o)
	if sign.Life != Unknown || idle(o) {
		return sign
	}
	return s.unready(ctx, o, sign)
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

// idle says whether a workload is a DaemonSet that no node is meant for: that says nothing, since
// its status may be from before it was looked at.
func idle(o *unstructured.Unstructured) bool {
	wanted, ready := replicas(o)
	return o.GetKind() == "DaemonSet" && wanted == 0 && ready == 0
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
			if s.belongs(o.GetNamespace(), labelsOf(o)...) {
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
