package actor

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// unmade says why no pods are made of a workload: a Deployment and its ReplicaSets have the
// condition ReplicaFailure, others have events only.
func (f *Finder) unmade(ctx context.Context, w *unstructured.Unstructured) (faults []Fault, unread []string) {
	sources := []*unstructured.Unstructured{w}
	if w.GetKind() == "Deployment" {
		sets, err := f.reader.ListObjects(ctx, cluster.ReplicaSets, w.GetNamespace(), cluster.Selection{})
		if err != nil {
			unread = append(unread, GapClauses(unlisted(cluster.ReplicaSets, w.GetNamespace(), err))...)
		}
		for _, set := range sets {
			for _, owner := range set.GetOwnerReferences() {
				if owner.UID == w.GetUID() {
					sources = append(sources, set)
				}
			}
		}
	}
	for _, o := range sources {
		if c, ok := status.Find(o, "ReplicaFailure"); ok && c.Status == "True" && c.Message != "" {
			return []Fault{refused(o, w, c.Message)}, nil
		}
	}
	for _, o := range sources {
		events, err := f.reader.ListObjects(ctx, cluster.Events, o.GetNamespace(),
			cluster.Selection{Fields: "type=Warning,reason=FailedCreate,involvedObject.uid=" + string(o.GetUID())})
		if err == nil && len(events) > 0 {
			return []Fault{refused(o, w, status.Nested(events[len(events)-1], "message"))}, nil
		}
	}
	return nil, unread
}

var (
	failedHook  = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
	hookService = regexp.MustCompile(`https://([^./"]+)\.([^./"]+)\.svc[:/]`)
)

// refused says why the server refuses to make the pods of a workload.
func refused(o, w *unstructured.Unstructured, message string) Fault {
	of := graph.Located(o.GetKind(), o.GetNamespace(), o.GetName())
	f := Fault{Says: fmt.Sprintf("%s cannot make pods: %s", of, message), From: of + " status.conditions",
		Repair: "repair what the message names"}
	hook := failedHook.FindStringSubmatch(message)
	service := hookService.FindStringSubmatch(message)
	switch {
	case strings.Contains(message, "exceeded quota"):
		f.Repair = fmt.Sprintf("raise the ResourceQuota of namespace %s, or free some of it", w.GetNamespace())
	case hook != nil && service != nil && service[2] == w.GetNamespace():
		f.Webhook = hook[1]
		f.Repair = fmt.Sprintf(
			"webhook %s, which it may serve itself in the same namespace, keeps its own pods from being made: exempt namespace %s from it, or delete its configuration, which it makes again as a rule", hook[1], w.GetNamespace())
	case hook != nil:
		f.Webhook = hook[1]
		f.Repair = fmt.Sprintf("have webhook %s let its pods through: repair what answers it, or exempt namespace %s from it",
			hook[1], w.GetNamespace())
	case strings.Contains(message, "serviceaccount") && strings.Contains(message, "not found"):
		f.Repair = "make its ServiceAccount again: " + Account(w).Namespace + "/" + Account(w).Name + " is gone"
	case strings.Contains(message, "violates PodSecurity"):
		f.Repair = fmt.Sprintf(
			"change what its pods ask for, or the label pod-security.kubernetes.io/enforce of namespace %s", w.GetNamespace())
	}
	return f
}
