package actor

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// TestWhichPartOfAProductALabelNames: an operator that an entry does not know is another, though the
// name is the same; a part that is called like the product is none.
func TestWhichPartOfAProductALabelNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		slug, name, component string
		want                  likeness
	}{
		{"rabbitmqclusteroperator", "rabbitmq-cluster-operator", "messaging-topology-operator", unlike},
		{"rabbitmqclusteroperator", "rabbitmq-cluster-operator", "rabbitmq-operator", byLabel},
		{"rabbitmqclusteroperator", "rabbitmq-cluster-operator", "", byLabel},
		{"argorollouts", "argo-rollouts", "rollouts-controller", byLabel},
		{"acmestore", "acme-store", "acme-store-gateway-controller", byLabel},
		{"acmestore", "acme-store", "controller-manager", byLabel},
		{"acmestore", "acme-store", "billing-operator", unlike},
	} {
		w := cluster.Workload{Name: "x", Labels: map[string]string{"app.kubernetes.io/name": test.name,
			"app.kubernetes.io/component": test.component}}
		if got := (features{slugs: []string{test.slug}}).of(w); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
