package actor

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

func (f *Finder) workload(ctx context.Context, s *signs, resource schema.GroupResource, pattern string) {
	for _, o := range f.named(ctx, s, resource, pattern) {
		s.workload(o)
	}
}

// labelled looks at the workloads that a label selector selects, and at pods if there are none: one of several names that an installation can
// have is not known, its labels are.
func (f *Finder) labelled(ctx context.Context, s *signs, selector string) {
	var found int
	for _, resource := range []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets, cluster.Pods} {
		if resource == cluster.Pods && found > 0 {
			break
		}
		all, err := f.reader.List(ctx, resource, "", cluster.Selection{Labels: selector})
		if err != nil {
			s.missed("%s cannot be listed: %v", resource, err)
			continue
		}
		found += len(all)
		for _, o := range all {
			if resource == cluster.Pods {
				s.pod(o)
			} else {
				s.workload(o)
			}
		}
	}
	s.seek("workload with the label " + selector)
}

// workload adds what a workload shows.
func (s *signs) workload(o *unstructured.Unstructured) {
	if slices.ContainsFunc(s.workloads, func(w *unstructured.Unstructured) bool { return w.GetUID() == o.GetUID() }) {
		return
	}
	s.found, s.workloads = true, append(s.workloads, o)
	sign := ReadWorkload(o)
	if sign.Scaled {
		s.scaled = append(s.scaled, o)
	}
	s.add(sign)
}

// ReadWorkload says how many pods of a Deployment, StatefulSet or DaemonSet are ready. One that is scaled to 0 is dead; one that should have pods and has none
// that is ready may be starting.
func ReadWorkload(o *unstructured.Unstructured) Sign {
	name := title(o)
	wanted, ready := number(o, 1, "spec", "replicas"), number(o, 0, "status", "readyReplicas")
	if o.GetKind() == "DaemonSet" {
		wanted, ready = number(o, 0, "status", "desiredNumberScheduled"), number(o, 0, "status", "numberReady")
	}
	switch {
	case ready > 0:
		return Sign{Life: Alive, Says: fmt.Sprintf("%s has %d of %s ready", name, ready, phrase.Count(int(wanted), "pod")), From: place(o, "status")}
	case o.GetDeletionTimestamp() != nil:
		return Sign{Life: Unknown, Says: name + " is being deleted, and none of its pods is ready", From: place(o, "metadata.deletionTimestamp")}
	case wanted == 0 && o.GetKind() == "DaemonSet":
		return Sign{Life: Unknown, Says: name + " is meant for no node", From: place(o, "status")}
	case wanted == 0:
		return Sign{Life: Dead, Says: name + " is scaled to 0", From: place(o, "spec.replicas"), Scaled: true}
	}
	return Sign{Life: Unknown, Says: fmt.Sprintf("%s has none of %s ready", name, phrase.Count(int(wanted), "pod")), From: place(o, "status")}
}

// pod says whether a pod without a workload that is known is ready.
func (s *signs) pod(o *unstructured.Unstructured) {
	s.found = true
	if c, ok := status.Find(o, "Ready"); ok && c.Status == "True" {
		s.add(Sign{Life: Alive, Says: title(o) + " is ready", From: place(o, "status.conditions")})
		return
	}
	s.add(Sign{Life: Unknown, Says: title(o) + " is not ready", From: place(o, "status.conditions")})
}

// number reads an integer, or what stands for it where there is none.
func number(o *unstructured.Unstructured, otherwise int64, fields ...string) int64 {
	if n, ok, err := unstructured.NestedInt64(o.Object, fields...); ok && err == nil {
		return n
	}
	return otherwise
}
