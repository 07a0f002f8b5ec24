package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

func (a *Actors) workload(ctx context.Context, s *signs, resource schema.GroupResource, pattern string) {
	for _, o := range a.named(ctx, s, resource, pattern) {
		s.workload(o)
	}
}

// labelled looks at the workloads that a label selector selects, and at pods if there are none: one of several names that an installation can
// have is not known, its labels are.
func (a *Actors) labelled(ctx context.Context, s *signs, selector string) {
	before := len(s.alive) + len(s.dead) + len(s.unread)
	for _, resource := range []schema.GroupResource{deployments, statefulSets, daemonSets, pods} {
		if resource == pods && len(s.alive)+len(s.dead) > before {
			return
		}
		all, err := a.source.list(ctx, resource, "", cluster.Selection{Labels: selector})
		if err != nil {
			s.unread = append(s.unread, fmt.Sprintf("%s cannot be listed: %v", resource, err))
			continue
		}
		for _, o := range all {
			if resource == pods {
				s.pod(o)
			} else {
				s.workload(o)
			}
		}
	}
	if len(s.alive)+len(s.dead)+len(s.unread) == before {
		s.absent = append(s.absent, "workload with the label "+selector)
	}
}

// workload says how many of a workload's pods are ready.
func (s *signs) workload(o *unstructured.Unstructured) {
	name := fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
	wanted, ready := number(o, 1, "spec", "replicas"), number(o, 0, "status", "readyReplicas")
	if o.GetKind() == "DaemonSet" {
		wanted, ready = number(o, 0, "status", "desiredNumberScheduled"), number(o, 0, "status", "numberReady")
	}
	switch {
	case o.GetDeletionTimestamp() != nil && ready == 0:
		s.dead = append(s.dead, name+" is being deleted, and none of its pods is ready")
	case ready > 0:
		s.alive = append(s.alive, fmt.Sprintf("%s has %d of %s ready", name, ready, count(int(wanted), "pod")))
	case wanted == 0 && o.GetKind() != "DaemonSet":
		s.dead = append(s.dead, name+" is scaled to 0")
		s.scaled = append(s.scaled, o)
	default:
		s.dead = append(s.dead, fmt.Sprintf("%s has none of %s ready", name, count(int(wanted), "pod")))
	}
}

// pod says whether a pod without a workload that is known is ready.
func (s *signs) pod(o *unstructured.Unstructured) {
	name := fmt.Sprintf("Pod %s/%s", o.GetNamespace(), o.GetName())
	if c, ok := condition(o, "Ready"); ok && c.Status == "True" {
		s.alive = append(s.alive, name+" is ready")
		return
	}
	s.dead = append(s.dead, name+" is not ready")
}

// number reads an integer, or what stands for it where there is none.
func number(o *unstructured.Unstructured, otherwise int64, fields ...string) int64 {
	if n, ok, err := unstructured.NestedInt64(o.Object, fields...); ok && err == nil {
		return n
	}
	return otherwise
}
