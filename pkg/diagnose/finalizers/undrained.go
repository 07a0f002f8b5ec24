package finalizers

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

var budgets = schema.GroupResource{Group: policyv1.GroupName, Resource: "poddisruptionbudgets"}

// undrained is for a node that the actor drains, with pods that it may not evict.
func (e holders) undrained(ctx context.Context, q *question, h finalizer.Hold) []core.Finding {
	node, ok := h.Node.Text(q.o.Object)
	if h.Node.IsZero() || h.Warning != "" || !ok {
		return nil
	}
	pods, err := e.Reader.ListObjects(ctx, cluster.Pods, "",
		cluster.Selection{Fields: fields.OneTermEqualSelector("spec.nodeName", node).String()})
	if err != nil {
		return nil // and the reader has noted the gap
	}
	f, names := q.waiting(), []string(nil)
	for _, o := range pods {
		var pod corev1.Pod
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &pod) != nil || !evicted(&pod, h.Taint) {
			continue
		}
		name, why := cluster.Located(o), ""
		if says, met := h.Meets(o.Object); met {
			why = says + " of " + name
		} else if b := e.budget(ctx, &pod); b != nil {
			why = cluster.Located(b) + ", which selects " + name + ", allows no disruption"
		}
		if why == "" {
			continue
		}
		if names = append(names, name); len(names) <= phrase.MaxNamed {
			f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(o, ""), why)...)
			f.Commands = append(f.Commands, core.At(e.Ref(o), core.Describe().Risking(finalizer.RiskNone)))
		}
	}
	if len(names) == 0 {
		return nil
	}
	f.Commands = append(f.Commands, e.ByHand(q.o, q.a))
	return []core.Finding{q.says(f, h, names)}
}

// evicted reports whether a drain evicts a pod: not one that has ended or goes already, one of the
// kubelet's own, or one that tolerates the taint of the drain.
func evicted(pod *corev1.Pod, taint string) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return pod.DeletionTimestamp == nil && !mirror && pod.Status.Phase != corev1.PodSucceeded &&
		pod.Status.Phase != corev1.PodFailed && !slices.ContainsFunc(pod.Spec.Tolerations,
		func(t corev1.Toleration) bool {
			return t.Key == taint || t.Key == "" && t.Operator == corev1.TolerationOpExists
		})
}

// budget returns a PodDisruptionBudget that refuses the eviction of a pod; nil if none is seen.
func (e holders) budget(ctx context.Context, pod *corev1.Pod) *unstructured.Unstructured {
	list, err := e.Reader.ListObjects(ctx, budgets, pod.Namespace, cluster.Selection{})
	if err != nil {
		return nil // and the reader has noted the gap
	}
	for _, o := range list {
		var b policyv1.PodDisruptionBudget
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &b) != nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) && refuses(&b, pod) {
			return o
		}
	}
	return nil
}

// refuses reports whether the server refuses to evict a pod: one that is not ready may go while
// enough others are.
func refuses(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	always := b.Spec.UnhealthyPodEvictionPolicy != nil &&
		*b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	enough := b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy
	return b.Status.DisruptionsAllowed == 0 && pod.Status.Phase != corev1.PodPending && (ready || !always && !enough)
}
