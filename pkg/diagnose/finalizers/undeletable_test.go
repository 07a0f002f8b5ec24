package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestTheAccountOfSeveralWorkloads: it is known if all of them run as one, and not if they do not.
func TestTheAccountOfSeveralWorkloads(t *testing.T) {
	t.Parallel()
	workload := func(name, account string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
		o.SetNamespace("ops")
		o.SetName(name)
		_ = unstructured.SetNestedField(o.Object, account, "spec", "template", "spec", "serviceAccountName")
		return o
	}
	for _, test := range []struct {
		of   []*unstructured.Unstructured
		want string
	}{
		{[]*unstructured.Unstructured{workload("a", "operator")}, "operator"},
		{[]*unstructured.Unstructured{workload("a", "operator"), workload("b", "operator")}, "operator"},
		{[]*unstructured.Unstructured{workload("a", "operator"), workload("b", "webhook")}, ""},
		{nil, ""},
	} {
		account, known := dependencies{}.accountOf(t.Context(), core.Responsible{Actor: actor.Actor{Life: actor.Alive, Workloads: test.of}})
		if known != (test.want != "") || known && account != (cluster.ServiceAccount{Namespace: "ops", Name: test.want}) {
			t.Errorf("%d workloads: %+v, %t", len(test.of), account, known)
		}
	}
}
