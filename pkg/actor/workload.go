package actor

import (
	"context"
	"fmt"

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
	before := len(s.alive) + len(s.dead) + len(s.unread)
	for _, resource := range []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets, cluster.Pods} {
		if resource == cluster.Pods && len(s.alive)+len(s.dead) > before {
			return
		}
		all, err := f.reader.List(ctx, resource, "", cluster.Selection{Labels: selector})
		if err != nil {
			s.unread = append(s.unread, fmt.Sprintf("%s cannot be listed: %v", resource, err))
			continue
		}
		for _, o := range all {
			if resource == cluster.Pods {
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

// Sign is what one object shows of the life of the component that it belongs to.
type Sign struct {
	Life Life
	// Says is a clause that says what was seen.
	Says string
	// Scaled says that it is a workload that is scaled to 0.
	Scaled bool
}

// workload adds what a workload shows.
func (s *signs) workload(o *unstructured.Unstructured) {
	sign := ReadWorkload(o)
	if sign.Life == Alive {
		s.alive = append(s.alive, sign.Says)
		return
	}
	s.dead = append(s.dead, sign.Says)
	if sign.Scaled {
		s.scaled = append(s.scaled, o)
	}
}

// ReadWorkload says how many pods of a Deployment, StatefulSet or DaemonSet are ready.
func ReadWorkload(o *unstructured.Unstructured) Sign {
	name := fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
	wanted, ready := number(o, 1, "spec", "replicas"), number(o, 0, "status", "readyReplicas")
	if o.GetKind() == "DaemonSet" {
		wanted, ready = number(o, 0, "status", "desiredNumberScheduled"), number(o, 0, "status", "numberReady")
	}
	switch {
	case o.GetDeletionTimestamp() != nil && ready == 0:
		return Sign{Life: Dead, Says: name + " is being deleted, and none of its pods is ready"}
	case ready > 0:
		return Sign{Life: Alive, Says: fmt.Sprintf("%s has %d of %s ready", name, ready, phrase.Count(int(wanted), "pod"))}
	case wanted == 0 && o.GetKind() != "DaemonSet":
		return Sign{Life: Dead, Says: name + " is scaled to 0", Scaled: true}
	}
	return Sign{Life: Dead, Says: fmt.Sprintf("%s has none of %s ready", name, phrase.Count(int(wanted), "pod"))}
}

// pod says whether a pod without a workload that is known is ready.
func (s *signs) pod(o *unstructured.Unstructured) {
	name := fmt.Sprintf("Pod %s/%s", o.GetNamespace(), o.GetName())
	if c, ok := status.Find(o, "Ready"); ok && c.Status == "True" {
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
