package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestPropagated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		labels, annotations map[string]string
		finalizer, want     string
	}{
		{"a template of Karmada", nil, map[string]string{"propagationpolicy.karmada.io/name": "shop"}, "", "propagationpolicy.karmada.io/name"},
		{"one of a policy for the cluster", map[string]string{"clusterpropagationpolicy.karmada.io/permanent-id": "1"}, nil, "",
			"clusterpropagationpolicy.karmada.io/permanent-id"},
		{"a template of KubeAdmiral", map[string]string{"kubeadmiral.io/propagation-policy-name": "all"}, nil, "example.com/hold",
			"kubeadmiral.io/propagation-policy-name"},
		{"one that KubeAdmiral holds itself", map[string]string{"kubeadmiral.io/propagation-policy-name": "all"}, nil,
			"kubeadmiral.io/federate-controller", ""},
		{"a copy in a member", map[string]string{"karmada.io/managed": "true", "propagationpolicy.karmada.io/permanent-id": "1"}, nil, "", ""},
		{"an object of somebody else", map[string]string{"app.kubernetes.io/name": "propagationpolicy"}, nil, "", ""},
	} {
		o := &unstructured.Unstructured{}
		o.SetLabels(c.labels)
		o.SetAnnotations(c.annotations)
		if got := propagated(o, c.finalizer); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
