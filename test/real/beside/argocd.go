package beside

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// argoSettings is what Argo CD reads when it starts, and a StatefulSet that stands for it.
const argoSettings = `
apiVersion: v1
kind: Namespace
metadata: {name: argocd}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
---
apiVersion: v1
kind: Secret
metadata: {name: argocd-secret, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
stringData: {server.secretkey: none}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: argocd-application-controller, namespace: argocd, labels: &labels {app.kubernetes.io/name: argocd-application-controller}}
spec:
  serviceName: argocd
  selector: {matchLabels: *labels}
  template: {metadata: {labels: *labels}, spec: {containers: [{name: argocd, image: quay.io/argoproj/argocd}]}}
`

// StartArgoCD starts the application controller of Argo CD in the namespace argocd. It has its
// manifests from the files of a directory, and takes Applications of further namespaces, too.
func StartArgoCD(t testing.TB, c *testcluster.Cluster, manifests, namespaces string) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "argocd", Module: "github.com/argoproj/argo-cd/v3", Dir: "manifests/crds"}, nil)
	c.Apply(t, argoSettings)
	c.Kubectl(t, "patch", "statefulset/argocd-application-controller", "-n", "argocd", "--subresource=status", "-p",
		`{"status":{"observedGeneration":1,"replicas":1,"readyReplicas":1,"availableReplicas":1,"currentReplicas":1,"updatedReplicas":1}}`)
	port := program.Port(t)
	return program.Start(t, program.Spec{
		Name: "argocd",
		Args: []string{"--kubeconfig=" + c.Kubeconfig(), "--namespace=argocd", "--application-namespaces=" + namespaces,
			fmt.Sprintf("--metrics-port=%d", port), "--logformat=text"},
		Env: []string{"KUBECONFIG=" + c.Kubeconfig(), "ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_SYNC_WAVE_DELAY=0",
			"ARGOCD_MANIFESTS=" + manifests},
		Ready: func(ctx context.Context) bool {
			return healthy(ctx, fmt.Sprintf("http://127.0.0.1:%d/healthz", port))
		},
	})
}
