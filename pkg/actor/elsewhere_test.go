package actor

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// controller is a workload as an installation has it.
type controller struct {
	kind, name, image string
	labels            []string // key: value
	replicas          int
	status            string // empty for one that is not ready
}

// install makes a workload in a namespace, and removes it at the test's end, so that no other test
// finds it.
func (w controller) install(t testing.TB, c *testcluster.Cluster, ns string) {
	t.Helper()
	if w.kind == "" {
		w.kind = "Deployment"
	}
	replicas := fmt.Sprintf("replicas: %d,", w.replicas)
	if w.kind == "DaemonSet" {
		replicas = ""
	}
	c.Apply(t, fmt.Sprintf(`apiVersion: apps/v1
kind: %s
metadata: {name: %s, namespace: %s, labels: {%s}}
spec: {%s selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: '%s'}]}}}
`, w.kind, w.name, ns, strings.Join(w.labels, ", "), replicas, w.image))
	t.Cleanup(func() { c.Kubectl(t, "delete", strings.ToLower(w.kind), w.name, "-n", ns) })
	if w.status != "" {
		setStatus(t, c, strings.ToLower(w.kind), ns, w.name, w.status)
	}
}

// labelledObject is one of a kind, in a namespace, with labels.
func labelledObject(apiVersion, kind, ns string, labels map[string]string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetNamespace(ns)
	o.SetLabels(labels)
	return o
}

// TestActorIsFoundWhereverItWasInstalled: under other names and in other namespaces than its maker
// gives it, it is alive, or starting, or dead, as it is where it normally runs. The names are those
// of real programs, so that it does not run beside tests that have them, too.
func TestActorIsFoundWhereverItWasInstalled(t *testing.T) {
	c := testcluster.Another(t, "types", testcluster.NoControllers())
	const up = ready
	for _, test := range []struct {
		name                        string
		finalizer, apiVersion, kind string
		running                     []controller
		life                        Life
		evidence                    string
	}{
		{"Flux in another namespace", "finalizers.fluxcd.io", "kustomize.toolkit.fluxcd.io/v1", "Kustomization",
			[]controller{{name: "kustomize-controller", image: "ghcr.io/fluxcd/kustomize-controller:v1.8.0", replicas: 1,
				status: up}}, Alive, "NS/kustomize-controller has 1 of 1 pod ready"},
		{"Flux in another namespace, starting", "finalizers.fluxcd.io", "kustomize.toolkit.fluxcd.io/v1", "Kustomization",
			[]controller{{name: "kustomize-controller", image: "ghcr.io/fluxcd/kustomize-controller:v1.8.0", replicas: 1}},
			Unknown, "starting for "},
		{"Flux in another namespace, scaled to zero", "finalizers.fluxcd.io", "kustomize.toolkit.fluxcd.io/v1",
			"Kustomization",
			[]controller{{name: "kustomize-controller", image: "ghcr.io/fluxcd/kustomize-controller:v1.8.0"}}, Dead,
			"NS/kustomize-controller is scaled to 0"},
		{"cert-manager under the name of a release", "acme.cert-manager.io/finalizer", "acme.cert-manager.io/v1", "Challenge",
			[]controller{
				{name: "certs-cert-manager", image: "quay.io/jetstack/cert-manager-controller:v1.18.0",
					labels: []string{"app.kubernetes.io/name: cert-manager", "app.kubernetes.io/component: controller"}, replicas: 1,
					status: up},
			}, Alive, "NS/certs-cert-manager has 1 of 1 pod ready"},
		{"cert-manager's webhook alone", "acme.cert-manager.io/finalizer", "acme.cert-manager.io/v1", "Challenge",
			[]controller{{name: "certs-cert-manager-webhook", image: "quay.io/jetstack/cert-manager-webhook:v1.18.0",
				labels: []string{"app.kubernetes.io/name: webhook", "app.kubernetes.io/component: webhook"}, replicas: 1,
				status: up}},
			Unknown, "there is no Deployment cert-manager in cert-manager"},
		{"OpenShift GitOps", "resources-finalizer.argocd.argoproj.io", "argoproj.io/v1alpha1", "Application",
			[]controller{{kind: "StatefulSet", name: "openshift-gitops-application-controller",
				image: "registry.redhat.io/openshift-gitops-1/argocd-rhel8:v1.15",
				labels: []string{"app.kubernetes.io/name: openshift-gitops-application-controller",
					"app.kubernetes.io/part-of: argocd", "app.kubernetes.io/component: application-controller"}, replicas: 1,
				status: up}},
			Alive, "has 1 of 1 pod ready"},
		{"KEDA under another name, by its image in a mirror", "finalizer.keda.sh", "keda.sh/v1alpha1", "ScaledObject",
			[]controller{{name: "scaling",
				image: "mirror.example.com:5000/corp/kedacore/keda-operator@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", replicas: 1, status: up}}, Alive, "NS/scaling (recognised by its image)"},
		{"CloudNativePG from its chart", "cnpg.io/cleanupPlugin", "v1", "Service",
			[]controller{{name: "cnpg-cloudnative-pg", image: "ghcr.io/cloudnative-pg/cloudnative-pg:1.27.0",
				labels: []string{"app.kubernetes.io/name: cloudnative-pg"}, replicas: 1, status: up}}, Alive,
			"has 1 of 1 pod ready"},
		{"Velero under another name, and its node agent", "restores.velero.io/external-resources-finalizer", "velero.io/v1",
			"Restore",
			[]controller{
				{name: "backup", image: "velero/velero:v1.17.0", labels: []string{"app.kubernetes.io/name: velero"}},
				{kind: "DaemonSet", name: "node-agent", image: "velero/velero:v1.17.0",
					labels: []string{"app.kubernetes.io/name: velero"},
					status: `{"currentNumberScheduled":1,"desiredNumberScheduled":1,"numberMisscheduled":0,"numberReady":1}`},
			}, Dead, "NS/backup (recognised by its image) is scaled to 0"},
		{"kapp-controller in another namespace", "finalizers.kapp-ctrl.k14s.io/delete", "kappctrl.k14s.io/v1alpha1", "App",
			[]controller{{name: "kapp-controller", image: "ghcr.io/carvel-dev/kapp-controller:v0.58.0", replicas: 1,
				status: up}}, Alive, "has 1 of 1 pod ready"},
		{"Argo Workflows from its chart", "workflows.argoproj.io/artifact-gc", "argoproj.io/v1alpha1", "Workflow",
			[]controller{{name: "ci-argo-workflows-workflow-controller", image: "quay.io/argoproj/workflow-controller:v3.7.0",
				replicas: 1, status: up}}, Alive, "has 1 of 1 pod ready"},
		{"a stranger whose name ends alike", "finalizers.kapp-ctrl.k14s.io/delete", "kappctrl.k14s.io/v1alpha1", "App",
			[]controller{{name: "my-kapp-controller", image: "example.com/something/else:v1", replicas: 1, status: up}}, Unknown,
			"there is no Deployment kapp-controller in any namespace"},
		{"a stranger with a name that many have", "eventbus-controller", "argoproj.io/v1alpha1", "EventBus",
			[]controller{{name: "controller-manager", image: "example.com/something/else:v1", replicas: 1, status: up}}, Unknown,
			"there is no Deployment controller-manager in argo-events"},
		{"Argo Events in another namespace", "eventbus-controller", "argoproj.io/v1alpha1", "EventBus",
			[]controller{{name: "controller-manager", image: "quay.io/argoproj/argo-events:v1.9.0", replicas: 1, status: up}},
			Alive, "has 1 of 1 pod ready"},
		{"two that share a label, one of them scaled to zero", "finalizers.kapp-ctrl.k14s.io/delete",
			"kappctrl.k14s.io/v1alpha1", "App",
			[]controller{
				{name: "one", image: "example.com/one:v1", labels: []string{"app.kubernetes.io/part-of: kapp-controller"},
					replicas: 1, status: up},
				{name: "two", image: "example.com/two:v1", labels: []string{"app.kubernetes.io/part-of: kapp-controller"}},
			}, Unknown, "NS/two (a part of it, by its labels) is scaled to 0"},
		{"a part of it that runs, and may be another", "finalizers.kapp-ctrl.k14s.io/delete",
			"kappctrl.k14s.io/v1alpha1", "App",
			[]controller{{name: "one", image: "example.com/one:v1",
				labels: []string{"app.kubernetes.io/part-of: kapp-controller"}, replicas: 1, status: up}}, Unknown,
			"NS/one (a part of it, by its labels) has 1 of 1 pod ready"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ns := c.Namespace(t)
			for _, w := range test.running {
				w.install(t, c, ns)
			}
			a := actorOf(t, c, fixture.Packs(t), test.finalizer, labelledObject(test.apiVersion, test.kind, "default", nil))
			wantActor(t, a, test.life, inNamespace(test.evidence, ns))
			if found := !strings.HasPrefix(test.evidence, "there is no"); a.Found != found || a.NotFound() == found || found &&
				len(a.Workloads) == 0 {
				t.Errorf("found %t, not found %t, %d workloads; searched for %q, unread %q", a.Found, a.NotFound(),
					len(a.Workloads), a.Searched, a.Unread)
			}
		})
	}
}

// TestActorInAnotherNamespaceByItsLease: the Lease has the name that its maker gives it, and
// nothing else has.
func TestActorInAnotherNamespaceByItsLease(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	o := labelledObject("postgresql.cnpg.io/v1", "Publication", "default", nil)
	c.Apply(t, fixture.Lease(ns, "lease-of-"+ns, "x", time.Now()))
	known := fixture.Pack(t, "example.com/bucket", "leases: [elsewhere/lease-of-"+ns+"]")
	wantActor(t, actorOf(t, c, known, "example.com/bucket", o), Alive, "by x")
	// The name of this one is like that of many.
	c.Apply(t, fixture.Lease(ns, "controller-leader-election", "x", time.Now()))
	known = fixture.Pack(t, "example.com/bucket", "leases: [elsewhere/controller-leader-election]")
	wantActor(t, actorOf(t, c, known, "example.com/bucket", o), Unknown,
		"there is no Lease controller-leader-election in elsewhere")
}

// TestAnotherInstallationIsAliveWhereTheUsualOneIsScaledToZero: it was moved, and the old one was
// kept.
func TestAnotherInstallationIsAliveWhereTheUsualOneIsScaledToZero(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	old, moved := c.Namespace(t), c.Namespace(t)
	c.Apply(t, fixture.Deployment(old, old, 0)+fixture.Deployment(moved, old, 1))
	known := fixture.Pack(t, "example.com/bucket", "deployments: ["+old+"/"+old+"]")
	// the other has its name, and another image
	wantActor(t, actorOf(t, c, known, "example.com/bucket", nil), Dead, old+"/"+old+" is scaled to 0")
	known = fixture.Pack(t, "example.com/bucket", "deployments: ["+old+"/"+old+"], images: [c]")
	wantActor(t, actorOf(t, c, known, "example.com/bucket", nil), Unknown, "starting for ")
	setStatus(t, c, "deployment", moved, old, ready)
	wantActor(t, actorOf(t, c, known, "example.com/bucket", nil), Alive, moved+"/"+old+" has 1 of 1 pod ready")
}

// TestActorIsNotAbsentWhereNamespacesMayNotBeLookedInto: a user who may read one namespace cannot
// tell that it is in no other.
func TestActorIsNotAbsentWhereNamespacesMayNotBeLookedInto(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: %[1]s}
rules: [{apiGroups: [apps], resources: [deployments], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader-of-%[1]s}]
`, ns))
	client, catalog := fixture.Connect(t, c.As("reader-of-"+ns))
	of := func() Actor {
		known := fixture.Pack(t, "example.com/bucket", "deployments: ["+ns+"/"+ns+"]")
		var a Actor
		testcluster.Eventually(t, "the role is known", func(ctx context.Context) (_ bool, err error) {
			a, err = NewFinder(cluster.NewReader(client, catalog), known).Of(ctx, labelledObject("v1", "ConfigMap", ns, nil),
				"example.com/bucket")
			return !strings.Contains(strings.Join(a.Unread, ""), "cannot be read"), err
		})
		return a
	}
	a := of()
	wantActor(t, a, Unknown, "deployments.apps cannot be listed in all namespaces")
	if a.NotFound() {
		t.Errorf("it counts as not found: %q", a.Unread)
	}
	// What is where it normally is, and is scaled to 0, is a witness.
	c.Apply(t, fixture.Deployment(ns, ns, 0))
	wantActor(t, of(), Dead, "is scaled to 0")
}
