package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// restoring are the controllers of a cluster in which workloads come back and claims are bound.
var restoring = []string{
	testcluster.Collector, "namespace-controller", "deployment-controller", "replicaset-controller",
	"statefulset-controller", "daemonset-controller", "job-controller", "endpoints-controller",
	"endpointslice-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
	"persistentvolume-binder-controller",
}

// shopManifest is a namespace with much in it; NS and VOLUME are its name and that of its volume.
const shopManifest = `
apiVersion: v1
kind: Namespace
metadata: {name: NS, labels: {team: shop}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: NS}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NS}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {serviceAccountName: web, containers: [{name: a, image: a}]}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NS}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: VOLUME}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: manual
  hostPath: {path: /nowhere}
  claimRef: {namespace: NS, name: data-db-0}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: NS}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: a, image: a}]}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: manual, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: NS}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: NS}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: a, image: a}]}}
`

// ownedManifest is what the Deployment of a shop owns; UID is its uid.
const ownedManifest = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NS, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: UID, blockOwnerDeletion: true}]}
---
apiVersion: GROUP/v1
kind: Widget
metadata: {name: handle, namespace: NS, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: UID, controller: true}]}
spec: {size: 3}
`

// TestANamespaceThatWasDeletedComesBack with all that was in it: the same kinds, names, owners and
// flags; bound to its volume; with what controllers make made and adopted by them, and the
// collector, which runs, deletes nothing of it.
func TestANamespaceThatWasDeletedComesBack(t *testing.T) {
	// It takes more than 10 s beside others: a namespace and a definition have to be gone, and
	// controllers make what was in it.
	t.Parallel()
	// Its types go, one after the other: a plan that is made meanwhile has a gap.
	c := testcluster.Start(t, testcluster.Controllers(restoring...))
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprintf("all %t", all), func(t *testing.T) {
			s := newShop(t, c)
			want := s.shape(t)
			file := filepath.Join(t.TempDir(), "shop.yaml.gz")
			s.gc(t, 0, "delete", "namespace/"+s.namespace, "crd/widgets."+s.group, "--archive", file, "-y", "--timeout=2m")
			args := []string{"restore", "-f", file, "-y"}
			if all {
				args = append(args, "--all")
			}
			s.gc(t, 0, args...)
			defer func() {
				if t.Failed() {
					t.Logf("(-want +got):\n%s", cmp.Diff(want, s.shape(t)))
				}
			}()
			testcluster.Eventually(t, "the workloads have what they had", func(context.Context) (bool, error) {
				return cmp.Equal(want, s.shape(t)), nil
			})
			testcluster.Eventually(t, "the claim is bound to its volume", func(context.Context) (bool, error) {
				return c.Kubectl(t, "get", "pvc", "data-db-0", "-n", s.namespace, "-o",
					"jsonpath={.status.phase} {.spec.volumeName}") == "Bound "+s.volume, nil
			})
			s.gc(t, 0, "check", "-n", s.namespace, "--severity=warning", "--finalizers=false")
			if again := s.gc(t, 0, "restore", "-f", file, "-y"); !strings.Contains(again, "nothing to restore") {
				t.Errorf("a second restore has something to do:\n%s", again)
			}
			if got := s.shape(t); !cmp.Equal(want, got) {
				t.Errorf("in the end (-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
}

// TestKubectlCreateOfAnArchiveIsCollected: the references of what kubectl creates name uids that no
// object has, and the collector deletes it. The same archive, restored, stays.
func TestKubectlCreateOfAnArchiveIsCollected(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "restore", testcluster.Controllers(restoring...))
	ns := c.Namespace(t)
	c.Apply(t, configMap("owner", ""), "-n", ns)
	c.Apply(t, configMap("child", ownedBy("owner", uidOf(t, c, ns, "owner"), "")), "-n", ns)
	file := filepath.Join(t.TempDir(), "owner.yaml")
	s := shop{c, ns, "", ""}
	s.gc(t, 0, "delete", "configmap/owner", "-n", ns, "--archive", file, "-y", "--timeout=1m")
	if _, err := c.Try(t.Context(), "", "create", "-f", file); err == nil ||
		!strings.Contains(err.Error(), "configmap/child created") {
		t.Fatalf("it was not created: %v", err) // of the plan in it, kubectl says that it knows no such kind
	}
	testcluster.Eventually(t, "the collector deletes the child", func(context.Context) (bool, error) {
		return c.Kubectl(t, "get", "configmap", "child", "-n", ns, "--ignore-not-found") == "", nil
	})
	c.Kubectl(t, "delete", "configmap", "owner", "-n", ns)
	s.gc(t, 0, "restore", "-f", file, "-y")
	if got := c.Kubectl(t, "get", "configmap", "child", "-n", ns, "-o",
		"jsonpath={.metadata.ownerReferences[0].uid}"); got != uidOf(t, c, ns, "owner") {
		t.Errorf("the owner of the child is %s", got)
	}
}

// shop is a namespace with workloads.
type shop struct {
	*testcluster.Cluster
	namespace, volume, group string
}

func newShop(t *testing.T, c *testcluster.Cluster) shop {
	t.Helper()
	ns := c.Namespace(t)
	s := shop{c, ns + "-shop", ns + "-volume", ns + ".example.com"}
	t.Cleanup(func() {
		_, _ = c.Try(context.WithoutCancel(t.Context()), "", "delete", "namespace", s.namespace, "--ignore-not-found",
			"--wait=false")
		_, _ = c.Try(context.WithoutCancel(t.Context()), "", "delete", "pv", s.volume, "--ignore-not-found", "--wait=false")
	})
	fixture.Define(t, c, fixture.Kind{Group: s.group, Kind: "Widget"})
	fill := func(text, uid string) string {
		return strings.NewReplacer("NS", s.namespace, "VOLUME", s.volume, "GROUP", s.group, "UID", uid).Replace(text)
	}
	c.Apply(t, fill(shopManifest, ""))
	c.Apply(t, fill(ownedManifest,
		c.Kubectl(t, "get", "deployment", "web", "-n", s.namespace, "-o", "jsonpath={.metadata.uid}")))
	testcluster.Eventually(t, "the workloads have their pods, and the claim its volume",
		func(context.Context) (bool, error) {
			pods := len(strings.Fields(c.Kubectl(t, "get", "pods", "-n", s.namespace, "-o", "name")))
			slices := c.Kubectl(t, "get", "endpointslices", "-n", s.namespace, "-o", "name")
			return pods == 4 && slices != "" &&
				c.Kubectl(t, "get", "pvc", "data-db-0", "-n", s.namespace, "-o", "jsonpath={.status.phase}",
					"--ignore-not-found") == "Bound", nil
		})
	return s
}

// gc runs kubectl gc, which must end with a code, and returns what it prints.
func (s shop) gc(t *testing.T, code int, args ...string) string {
	t.Helper()
	r := run(t, append(args, "--kubeconfig", s.Kubeconfig())...)
	if r.code != code {
		t.Fatalf("kubectl gc %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// shape says which objects there are and how they own each other, without uids and without what the
// names of generated ones end in.
func (s shop) shape(t *testing.T) []string {
	t.Helper()
	var tree v1alpha1.Tree
	if err := json.Unmarshal([]byte(s.gc(t, 0, "tree", "-n", s.namespace, "-o", "json")), &tree); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, n := range tree.Nodes {
		name := n.Ref.Name
		if slices.Contains([]string{"Pod", "EndpointSlice"}, n.Ref.Kind) && !strings.HasPrefix(name, "db-") {
			name = name[:strings.LastIndex(name, "-")]
		}
		names[n.Ref.UID] = n.Ref.Kind + "/" + name
	}
	var lines []string
	for _, n := range tree.Nodes {
		if n.Ref.Kind == "Event" {
			continue
		}
		line := names[n.Ref.UID] + " " + string(n.State)
		for _, o := range n.Owners {
			line += fmt.Sprintf(" < %s controller %t block %t %s", names[o.UID], o.Controller, o.BlockOwnerDeletion, o.Link)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}
