package act

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWhatIsRefusedToEverybodyIsFoundOut: the collector cannot delete a dependent that an admission
// policy protects, and nothing on the object shows it. That somebody may not delete is his own
// affair.
func TestWhatIsRefusedToEverybodyIsFoundOut(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "owner"))
	owning(t, c, ns, "owner", "free", "protected")
	c.Apply(t, `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: `+ns+`}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}
  validations: [{expression: "oldObject.metadata.name != 'protected'", message: "it is protected", reason: Forbidden}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: `+ns+`}
spec: {policyName: `+ns+`, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+ns+`}}}}
`)
	t.Cleanup(func() {
		c.Kubectl(t, "delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", ns)
	})
	testcluster.Eventually(t, "the policy is in force", func(ctx context.Context) (bool, error) {
		return c.Command(ctx, "delete", "configmap", "protected", "-n", ns, "--dry-run=server").Run() != nil, nil
	})
	_, p, points := prepare(t, c.Config(), ns, plan.Background, "owner")
	for user, refused := range map[string]bool{"": true, "mary": false} {
		config := c.Config()
		if user != "" {
			config = c.As(user)
		}
		client, err := cluster.New(config, 0)
		if err != nil {
			t.Fatal(err)
		}
		var told record
		r := begun(fixture.Unguarded(client), p, points, &told)
		rootGone(r, p)
		r.probe(t.Context(), Progress{Blocked: r.waiter.blocked(), Quiet: probeAfter})
		for _, l := range r.waiter.blocked() {
			if got := l.Refused != nil && strings.Contains(l.Refused.Error(), "it is protected"); got != (refused &&
				l.Object.Name == "protected") || l.Refused != nil && !got {
				t.Errorf("%q: %s is refused: %v", user, l.Object.Name, l.Refused)
			}
		}
	}
	if refusedForAll(nil) != nil || refusedForAll(errors.New("connection reset")) == nil {
		t.Error("no error is one, or an error is none")
	}
}
