package stuck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestTheActorOfAnotherFinalizer asks about an object with the finalizer of Flink's operator, which RBAC
// lets write it, and with one that no pack knows: that it is the operator's is only said where the
// finalizer has the domain of the object or a word of the operator, or no domain. That the operator is
// stopped comes first. No server is needed.
func TestTheActorOfAnotherFinalizer(t *testing.T) {
	t.Parallel()
	const object = "{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: it, namespace: a, uid: u, " +
		"deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [%s, flinkdeployments.flink.apache.org/finalizer]}, " +
		"status: {lifecycleState: DEPLOYED}}"
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: flink-kubernetes-operator, namespace: flink, uid: d}, " +
		"spec: {replicas: %d, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {serviceAccountName: flink, " +
		"containers: [{name: c, image: ghcr.io/apache/flink-kubernetes-operator}]}}}, status: {observedGeneration: 1, readyReplicas: %[1]d}}"
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: flink, uid: r}, " +
		"rules: [{apiGroups: [flink.apache.org], resources: ['*'], verbs: ['*']}]}"
	const binding = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: flink, uid: b}, roleRef: {" +
		"apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: flink}, subjects: [{kind: ServiceAccount, name: flink, namespace: flink}]}"
	for _, test := range []struct {
		finalizer, code string
		replicas        int
		likely          bool
	}{
		{"cleanup.example.org/finalizer", "FinalizerActorAlive", 1, false},
		{"cleanup.example.org/finalizer", "FinalizerActorDead", 0, false},
		{"jobs.apache.org/finalizer", "FinalizerActorAlive", 1, true},
		{"example.org/apache-jobs", "FinalizerActorAlive", 1, true},
		{"cleanup", "FinalizerActorAlive", 1, true},
	} {
		d := ofLists(t, map[string]string{
			"flink.apache.org/flinkdeployments":             fmt.Sprintf(object, test.finalizer),
			"apps/deployments":                              fmt.Sprintf(deployment, test.replicas),
			"rbac.authorization.k8s.io/clusterroles":        role,
			"rbac.authorization.k8s.io/clusterrolebindings": binding,
			"rbac.authorization.k8s.io/roles":               "",
			"rbac.authorization.k8s.io/rolebindings":        "",
			"apps/statefulsets":                             "",
			"apps/daemonsets":                               "",
		})
		if len(d.Stuck) != 1 || len(d.Stuck[0].Causes) != 2 {
			t.Fatalf("%s: %+v", test.finalizer, d.Stuck)
		}
		first, other := d.Stuck[0].Causes[0], d.Stuck[0].Causes[1]
		if first.Finalizer == test.finalizer {
			first, other = other, first
			if test.replicas == 0 {
				t.Errorf("%s comes first: %s", test.finalizer, other.Summary)
			}
		}
		says := strings.Contains(other.Summary+other.Remedy, "flink-kubernetes-operator")
		if first.Code != test.code || other.Code != "FinalizerActorUnknown" || says != test.likely {
			t.Errorf("%s: %s %s: %s %s, want %+v", test.finalizer, first.Code, other.Code, other.Summary, other.Remedy, test)
		}
	}
}

// TestWhatIsKnownBesideAGap asks about an object that is deleted in the foreground while not every type
// could be listed: that there may be a dependent is no answer where the collector may not write it, or
// does not run. No server is needed.
func TestWhatIsKnownBesideAGap(t *testing.T) {
	t.Parallel()
	const hook = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: h, uid: h}, webhooks: [" +
		"{name: h.example.org, failurePolicy: %s, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: {namespace: a, name: gone}}, " +
		"rules: [{apiGroups: [''], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]}]}"
	const lease = "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kube-controller-manager, namespace: kube-system, uid: l}, " +
		"spec: {holderIdentity: a, leaseDurationSeconds: 15, renewTime: '%s'}}"
	for want, test := range map[string]struct{ policy, renewed string }{
		"AdmissionWebhookDown": {"Fail", "2026-01-01T02:00:00.000000Z"},
		"BlockerHidden":        {"Ignore", "2026-01-01T02:00:00.000000Z"},
		"CollectorNotRunning":  {"Ignore", "2026-01-01T00:00:00.000000Z"},
	} {
		d := ofLists(t, map[string]string{
			"core/configmaps": "{apiVersion: v1, kind: ConfigMap, metadata: {name: it, namespace: a, uid: u, finalizers: [foregroundDeletion], " +
				"deletionTimestamp: '2026-01-01T01:00:00Z'}}",
			"core/services":                   "",
			"discovery.k8s.io/endpointslices": "",
			"admissionregistration.k8s.io/validatingwebhookconfigurations": fmt.Sprintf(hook, test.policy),
			"admissionregistration.k8s.io/mutatingwebhookconfigurations":   "",
			"coordination.k8s.io/leases":                                   fmt.Sprintf(lease, test.renewed),
		})
		if len(d.Stuck) != 1 || len(d.Stuck[0].Causes) == 0 || d.Stuck[0].Causes[0].Code != want {
			t.Errorf("%+v, want %s", d.Stuck, want)
		}
	}
}

// ofLists is the answer about everything in a dump of lists, by group and resource.
func ofLists(t *testing.T, lists map[string]string) v1alpha1.Diagnosis {
	t.Helper()
	dump := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dump, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("timestamp", "2026-01-01 02:00:00 +0000 UTC\n")
	for of, items := range lists {
		write("cluster-scoped-resources/"+of+".yaml", "{apiVersion: v1, kind: List, items: ["+items+"]}")
	}
	return diagnosis(t, "--from", dump)
}
