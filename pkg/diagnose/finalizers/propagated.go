package finalizers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// propagated is the label or the annotation by which an object is a template that is propagated to
// other clusters; empty if it is none. Karmada marks a template with the policy that selects it
// (https://github.com/karmada-io/karmada/issues/4467), and KubeAdmiral has it name its policy
// (https://github.com/kubewharf/kubeadmiral/blob/main/docs/quickstart.md). The copies that they
// make have the same, and a label that says that they are managed. Their own finalizers, as
// kubeadmiral.io/federate-controller, they remove here
// (https://github.com/kubewharf/kubeadmiral/blob/4e1940aaa726/pkg/controllers/federate/controller.go).
func propagated(o *unstructured.Unstructured, finalizer string) string {
	for _, marks := range []map[string]string{o.GetLabels(), o.GetAnnotations()} {
		for _, key := range slices.Sorted(maps.Keys(marks)) {
			of, rest, _ := strings.Cut(key, "/")
			if by, found := strings.CutPrefix(strings.TrimPrefix(of, "cluster"), "propagationpolicy."); found {
				of = by
			} else if !strings.HasSuffix(rest, "propagation-policy-name") {
				continue
			}
			if o.GetLabels()[of+"/managed"] != "true" && !strings.HasPrefix(finalizer, of+"/") {
				return key
			}
		}
	}
	return ""
}

// ofTemplate completes the finding about an object that is only a template here, and whose actor
// is not seen: it may run where the copies are.
func ofTemplate(o *unstructured.Unstructured, f core.Finding) core.Finding {
	key := propagated(o, f.Finalizer)
	if key == "" {
		return f
	}
	f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(o, "metadata"),
		fmt.Sprintf("by %s it is propagated to member clusters, and only a template here", key))...)
	f.Remedy = "By " + key + " the object is propagated to member clusters, and whoever removes the finalizer may run only there. If nobody " +
		"is to work on the template, remove the finalizer by hand: once it is gone the copies are deleted, with what they stand for, " +
		"unless the policy keeps them. Apply templates without finalizers."
	return f
}
