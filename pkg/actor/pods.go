package actor

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// pods looks at pods that no workload of a known type makes, as static ones, and returns how many
// there are. Those that have ended, and those of Jobs, remove no finalizers.
func (s *search) pods(ctx context.Context, selector string) int {
	all, err := s.reader.ListObjects(ctx, cluster.Pods, "", cluster.Selection{Labels: selector})
	if err != nil {
		s.missed("pods cannot be listed: %v", err)
	}
	found := 0
	for _, pod := range all {
		if ended(pod) || !s.belongs(pod.GetNamespace(), pod.GetLabels()) {
			continue
		}
		found++
		s.found = true
		s.add(s.inside(s.assessPod(pod)))
	}
	return found
}

func (s *search) assessPod(pod *unstructured.Unstructured) Sign {
	from := place(pod, "status.conditions")
	if podReady(pod) {
		return Sign{Life: Alive, Says: title(pod) + " is ready", From: from}
	}
	since, verb := changedPod(pod)
	past := s.now().Sub(since)
	if past < patience {
		return Sign{Life: Unknown, Says: title(pod) + " is not ready: " + verb + " " + phrase.Ago(past), From: from,
			starting: true}
	}
	return Sign{Life: Dead, Says: title(pod) + " has not been ready for " + phrase.Ago(past), From: from}
}

// podReady says whether a pod is ready.
func podReady(pod *unstructured.Unstructured) bool {
	c, _ := status.Find(pod, "Ready")
	return c.Status == "True"
}

// ended says whether a pod is done, or is one that is meant to end.
func ended(pod *unstructured.Unstructured) bool {
	if phase := status.Nested(pod, "status", "phase"); phase == "Succeeded" || phase == "Failed" {
		return true
	}
	for _, owner := range pod.GetOwnerReferences() {
		if owner.Kind == "Job" {
			return true
		}
	}
	return false
}

// podsSelectedBy returns the pods that a workload selects, with those that are being deleted; none
// if it has no selector.
func (f *Finder) podsSelectedBy(ctx context.Context, w *unstructured.Unstructured) ([]*unstructured.Unstructured,
	error) {
	selector, err := PodSelector(w)
	if selector == "" || err != nil {
		return nil, err
	}
	return f.reader.ListObjects(ctx, cluster.Pods, w.GetNamespace(), cluster.Selection{Labels: selector})
}

// PodSelector returns the label selector of the pods of a workload, empty if it has none.
func PodSelector(w *unstructured.Unstructured) (string, error) {
	written, _, _ := unstructured.NestedMap(w.Object, "spec", "selector")
	if len(written) == 0 {
		return "", nil
	}
	var of metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written, &of); err != nil {
		return "", err
	}
	selector, err := metav1.LabelSelectorAsSelector(&of)
	if err != nil {
		return "", err
	}
	return selector.String(), nil
}
