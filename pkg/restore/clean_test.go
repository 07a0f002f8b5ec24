package restore

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// object reads an object.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestWhatAServerCanCreate of an archived object: without what servers and controllers have set,
// and with all else.
func TestWhatAServerCanCreate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ archived, want string }{
		"metadata and status": {`
apiVersion: example.com/v1
kind: Widget
metadata:
  {name: a, namespace: shop, uid: u, resourceVersion: "7", generation: 3, creationTimestamp: "2026-01-01T00:00:00Z", deletionTimestamp: "2026-01-02T00:00:00Z",
   deletionGracePeriodSeconds: 0, managedFields: [{manager: m}], ownerReferences: [{uid: o}], finalizers: [orphan, example.com/a, foregroundDeletion], labels: {a: b}}
spec: {status: {a: b}}
status: {ready: true}
`, `
apiVersion: example.com/v1
kind: Widget
metadata: {name: a, namespace: shop, finalizers: [example.com/a], labels: {a: b}, annotations: {gc.kubectl.dev/restored-from: u}}
spec: {status: {a: b}}
`},
		"a pod": {`
apiVersion: v1
kind: Pod
metadata: {name: a, uid: u}
spec: {nodeName: n, priority: 7, priorityClassName: high, ephemeralContainers: [{name: debug}], containers: [{name: a}]}
`, `
apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {gc.kubectl.dev/restored-from: u}}
spec: {priorityClassName: high, containers: [{name: a}]}
`},
		"a job": {`
apiVersion: batch/v1
kind: Job
metadata: {name: a, uid: u, labels: {app: a, controller-uid: u, batch.kubernetes.io/controller-uid: u}}
spec:
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}
  template: {metadata: {labels: {app: a, controller-uid: u, batch.kubernetes.io/controller-uid: u, job-name: a, batch.kubernetes.io/job-name: a}}}
`, `
apiVersion: batch/v1
kind: Job
metadata: {name: a, labels: {app: a}, annotations: {gc.kubectl.dev/restored-from: u}}
spec:
  template: {metadata: {labels: {app: a}}}
`},
		"a job with a selector of its own": {`
apiVersion: batch/v1
kind: Job
metadata: {name: a, uid: u}
spec: {manualSelector: true, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a, job-name: mine}}}}
`, `
apiVersion: batch/v1
kind: Job
metadata: {name: a, annotations: {gc.kubectl.dev/restored-from: u}}
spec: {manualSelector: true, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a, job-name: mine}}}}
`},
		"a claim": {`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, uid: u, annotations: {pv.kubernetes.io/bind-completed: "yes", pv.kubernetes.io/bound-by-controller: "yes", volume.kubernetes.io/selected-node: node-1, mine: "1"}}
spec: {volumeName: v}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, annotations: {mine: "1", gc.kubectl.dev/restored-from: u}}
spec: {volumeName: v}
`},
		"a volume": {`
apiVersion: v1
kind: PersistentVolume
metadata: {name: v, uid: u, annotations: {pv.kubernetes.io/bound-by-controller: "yes"}}
spec: {claimRef: {name: a, namespace: shop, uid: c, resourceVersion: "7"}}
`, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: v, annotations: {gc.kubectl.dev/restored-from: u}}
spec: {claimRef: {name: a, namespace: shop}}
`},
		"a token": {`
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: a, uid: u, annotations: {kubernetes.io/service-account.name: s, kubernetes.io/service-account.uid: x}}
data: {token: dA==, ca.crt: dA==, namespace: dA==, mine: dA==}
`, `
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: a, annotations: {kubernetes.io/service-account.name: s, gc.kubectl.dev/restored-from: u}}
data: {mine: dA==}
`},
		"a secret": {`
apiVersion: v1
kind: Secret
metadata: {name: a, uid: u}
data: {token: dA==}
`, `
apiVersion: v1
kind: Secret
metadata: {name: a, annotations: {gc.kubectl.dev/restored-from: u}}
data: {token: dA==}
`},
		"a namespace": {`
apiVersion: v1
kind: Namespace
metadata: {name: a, uid: u, labels: {kubernetes.io/metadata.name: a}}
spec: {finalizers: [kubernetes]}
status: {phase: Terminating}
`, `
apiVersion: v1
kind: Namespace
metadata: {name: a, labels: {kubernetes.io/metadata.name: a}, annotations: {gc.kubectl.dev/restored-from: u}}
spec: {}
`},
	} {
		archived := object(t, test.archived)
		before := archived.DeepCopy()
		if diff := cmp.Diff(object(t, test.want).Object, Creatable(archived).Object); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !cmp.Equal(before.Object, archived.Object) {
			t.Errorf("%s: the archived object was changed", name)
		}
	}
}

// TestAddressesThatAreTaken are chosen again, and those that were not the server's are kept.
func TestAddressesThatAreTaken(t *testing.T) {
	t.Parallel()
	o := object(t, `
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {type: NodePort, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], healthCheckNodePort: 30001, ports: [{port: 80, nodePort: 30000}, {port: 81}]}
`)
	want := object(t, `
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {type: NodePort, ports: [{port: 80}, {port: 81}]}
`)
	dropAllocations(o)
	if diff := cmp.Diff(want.Object, o.Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	headless := object(t, `{apiVersion: v1, kind: Service, spec: {clusterIP: None, clusterIPs: [None]}}`)
	before := headless.DeepCopy()
	if dropAllocations(headless); !cmp.Equal(before.Object["spec"].(map[string]any)["clusterIP"],
		headless.Object["spec"].(map[string]any)["clusterIP"]) {
		t.Error("a headless Service got an address")
	}
}
