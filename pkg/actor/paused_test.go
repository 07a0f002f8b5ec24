package actor

import (
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// pausing is a pack whose objects say in three ways that they are paused.
const pausing = `title: Test
components: {Test operator: {}}
finalizers:
- {id: test, exact: example.com/x, kinds: ['*'], component: Test operator, does: deletes the bucket, ifRemoved: the bucket leaks, risk: leaks-external, polarity: cleanup, verified: source, source: 'https://example.com',
   pausedBy: [{annotation: example.com/pause}, {label: example.com/mode, value: off}, {field: spec.mode.active, value: "false"}]}
`

// TestObjectSaysThatItIsPaused: the pack's own places and those that many controllers understand,
// with what ends each; and what is no pause.
func TestObjectSaysThatItIsPaused(t *testing.T) {
	known, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(strings.ReplaceAll(pausing,
		"value: off", "value: 'off'"))}})
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := known.Lookup("example.com/x", "example.com", "Bucket")
	pack := Actor{Known: entry, IsKnown: true}
	for text, want := range map[string]string{
		"{apiVersion: example.com/v1, kind: Bucket, metadata: {annotations: {example.com/pause: ''}}}":               `annotate OBJECT example.com/pause-`,
		"{apiVersion: example.com/v1, kind: Bucket, metadata: {labels: {example.com/mode: 'off'}}}":                  `label OBJECT example.com/mode-`,
		"{apiVersion: example.com/v1, kind: Bucket, metadata: {labels: {example.com/mode: 'on'}}}":                   ``,
		"{apiVersion: example.com/v1, kind: Bucket, spec: {mode: {active: false}}}":                                  `patch OBJECT --type=merge -p {"spec":{"mode":{"active":null}}}`,
		"{apiVersion: s3.aws.upbound.io/v1, kind: Bucket, metadata: {annotations: {crossplane.io/paused: 'true'}}}":  `annotate OBJECT crossplane.io/paused- (perhaps)`,
		"{apiVersion: s3.aws.upbound.io/v1, kind: Bucket, metadata: {annotations: {crossplane.io/paused: 'false'}}}": ``,
		"{apiVersion: s3.aws.upbound.io/v1, kind: Managed, metadata: {annotations: {crossplane.io/paused: 'true'}}}": `annotate OBJECT crossplane.io/paused-`,
		// whose finalizer is no part of it
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {cluster.x-k8s.io/paused: ''}}}":                 `annotate OBJECT cluster.x-k8s.io/paused- (perhaps)`,
		"{apiVersion: infrastructure.cluster.x-k8s.io/v1, kind: M, spec: {paused: true}}":                                   `patch OBJECT --type=merge -p {"spec":{"paused":false}} (perhaps)`,
		"{apiVersion: infrastructure.cluster.x-k8s.io/v1, kind: M, metadata: {annotations: {cluster.x-k8s.io/paused: ''}}}": `annotate OBJECT cluster.x-k8s.io/paused-`,
		"{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, spec: {paused: true}}":                                       `patch OBJECT --type=merge -p {"spec":{"paused":false}}`,
		"{apiVersion: db.example.com/v1, kind: Db, spec: {paused: true}}":                                                   `patch OBJECT --type=merge -p {"spec":{"paused":false}} (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, spec: {suspend: true}}":                                                  `patch OBJECT --type=merge -p {"spec":{"suspend":false}} (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, spec: {suspend: false, paused: 'no'}}":                                   ``,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {db.example.com/paused: 'true'}}}":               `annotate OBJECT db.example.com/paused- (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {db.example.com/paused: 'no'}}}":                 ``,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {example.com/paused: 'true'}}}":                  `annotate OBJECT example.com/paused- (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {other.example.com/paused: 'true'}}}":            ``,
		"{apiVersion: v1.db.io/v1, kind: Foreign, metadata: {annotations: {example.org/paused: 'true'}}}":                   `annotate OBJECT example.org/paused- (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {db.example.com/skip-reconcile: 'true'}}}":       `annotate OBJECT db.example.com/skip-reconcile- (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {db.example.com/ignore: 'true'}}}":               `annotate OBJECT db.example.com/ignore- (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {db.example.com/ignore-me: 'true'}}}":            ``,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {labels: {example.com/skip-reconciliation: 'true'}}}":          `label OBJECT example.com/skip-reconciliation- (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {labels: {example.com/skip-reconciliation: 'false'}}}":         ``,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {labels: {prometheus.io/ignore: 'true'}}}":                     ``,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {labels: {example.com/managed: 'true'}}}":                      ``,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {example.com/reconcile: disabled}}}":             `annotate OBJECT example.com/reconcile- (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, metadata: {annotations: {example.com/reconcile: enabled}}}":              ``,
		"{apiVersion: db.example.com/v1, kind: Db, spec: {pause: true}}":                                                    `patch OBJECT --type=merge -p {"spec":{"pause":false}} (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, spec: {managementState: Unmanaged}}":                                     `patch OBJECT --type=merge -p {"spec":{"managementState":null}} (perhaps)`,
		"{apiVersion: db.example.com/v1, kind: Db, spec: {managementState: Managed}}":                                       ``,
		"{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {annotations: {autoscaling.keda.sh/paused: 'true'}}}": ``,
		// it goes, and to resume it would prune
		"{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, spec: {suspend: true}}": ``,
		"{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, spec: {suspend: true}}":    `patch OBJECT --type=merge -p {"spec":{"suspend":false}} (perhaps)`,
		"{apiVersion: batch/v1, kind: CronJob, spec: {suspend: true}}":                             ``,
		"{apiVersion: apps/v1, kind: Deployment, spec: {paused: true}}":                            ``,
		// the pack names other places
		"{apiVersion: example.com/v1, kind: Bucket, spec: {paused: true}}":               ``,
		"{apiVersion: example.com/v1, kind: Bucket, spec: text, metadata: {labels: {}}}": ``,
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		got := ""
		who := Actor{}
		switch o.GetKind() {
		case "Bucket":
			who = pack
		case "Foreign":
			who.Finalizer = "finalizer.example.org"
		case "Managed":
			who.Finalizer = "finalizer.managedresource.crossplane.io"
		}
		for _, p := range (&Finder{}).Paused(t.Context(), o, who) {
			got += strings.Join(p.Resume(), " ")
			if p.Custom {
				got += " (perhaps)"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestClusterThatIsPaused: what belongs to a Cluster of Cluster API is ignored when the Cluster is
// paused.
func TestClusterThatIsPaused(t *testing.T) { // not parallel: it makes a type
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.x-k8s.io, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: cluster.x-k8s.io
  scope: Namespaced
  names: {plural: clusters, singular: cluster, kind: Cluster}
  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
	t.Cleanup(func() { c.Kubectl(t, "delete", "crd", "clusters.cluster.x-k8s.io") })
	c.Apply(t, "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: prod, namespace: "+ns+
		"}\nspec: {paused: true}\n")
	o := objectNamed("infrastructure.cluster.x-k8s.io/v1", "AWSMachine", ns, "m-1")
	o.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "prod"})
	all := finderOf(t, c.Config(), fixture.Packs(t)).Paused(t.Context(), o, Actor{})
	if len(all) != 1 || all[0].Object.GetKind() != "Cluster" || !all[0].Moved {
		t.Fatalf("%+v, want the Cluster", all)
	}
	want := "spec.paused of Cluster " + ns + `/prod, to which it belongs, is "true": its controllers ignore it`
	if got := all[0].Observation(o); got.Says != want || got.From != "Cluster "+ns+"/prod spec.paused" {
		t.Errorf("%+v, want %q", got, want)
	}
	o.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "other"})
	if all := finderOf(t, c.Config(), fixture.Packs(t)).Paused(t.Context(), o, Actor{}); len(all) > 0 {
		t.Errorf("%+v, want nothing: its Cluster does not exist", all)
	}
}

// TestWhoIsLeftToAnotherController: spec.managedBy speaks to the controllers of the object's group, and
// not to others that have a finalizer on it; what names no domain names no controller.
func TestWhoIsLeftToAnotherController(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		group, by, finalizer string
		want                 bool
	}{
		{"ray.io", "kueue.x-k8s.io/multikueue", "ray.io/rayservice-finalizer", true},
		{"ray.io", "kueue.x-k8s.io/multikueue", "rayservice-finalizer", true},
		{"ray.io", "kueue.x-k8s.io/multikueue", "kueue.x-k8s.io/managed", false},
		{"ray.io", "kueue.x-k8s.io/multikueue", "backup.acme.example/finalizer", false},
		{"ray.io", "ray.io/kuberay-operator", "ray.io/rayservice-finalizer", false},
		{"jobset.x-k8s.io", "jobset.sigs.k8s.io/jobset-controller", "jobset.x-k8s.io/finalizer", false},
		{"db.acme.example", "payments/team-a", "db.acme.example/finalizer", false},
		{"batch", "kueue.x-k8s.io/multikueue", "batch.kubernetes.io/x", false},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"managedBy": test.by}}}
		o.SetAPIVersion(test.group + "/v1")
		if _, _, got := managedByAnother(o, test.finalizer); got != test.want {
			t.Errorf("%s in %s with %s: %t", test.by, test.group, test.finalizer, got)
		}
	}
}
