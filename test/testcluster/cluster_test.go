package testcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`

// names gives what kubectl get -o name prints for args, one by one.
func names(ctx context.Context, c *Cluster, args ...string) ([]string, error) {
	out, err := c.Command(ctx, append([]string{"get", "-o", "name", "--ignore-not-found"}, args...)...).Output()
	return strings.Fields(string(out)), err
}

// gone reports whether kubectl get finds nothing for args.
func gone(c *Cluster, args ...string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		found, err := names(ctx, c, args...)
		return len(found) == 0, err
	}
}

func TestDeploymentIsMadeAndCollected(t *testing.T) {
	c := Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, deployment, "-n", ns)
	for kind, want := range map[string]int{"deployments": 1, "replicasets": 1, "pods": 3} {
		Eventually(t, fmt.Sprintf("there are %d %s", want, kind), func(ctx context.Context) (bool, error) {
			found, err := names(ctx, c, kind, "-n", ns)
			return len(found) == want, err
		})
	}
	c.Kubectl(t, "delete", "deployment", "web", "-n", ns, "--cascade=background")
	Eventually(t, "the whole cascade is gone", gone(c, "deployments,replicasets,pods", "-n", ns))
}

func TestCollectorComesLate(t *testing.T) {
	t.Parallel()
	c := Start(t, Controllers(Collector))
	c.StopControllers(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "owner", "-n", ns)
	uid := c.Kubectl(t, "get", "configmap", "owner", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: dependent
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: %s}]
`, uid), "-n", ns)
	c.Kubectl(t, "delete", "configmap", "owner", "-n", ns)
	// A collector that still ran would have needed some milliseconds; these commands take a tenth
	// of a second each.
	for range 5 {
		if found, err := names(t.Context(), c, "configmap", "-n", ns); err != nil ||
			strings.Join(found, " ") != "configmap/dependent" {
			t.Fatalf("without a collector: %v, %v; want the dependent only", found, err)
		}
	}
	c.StartControllers(t, Collector)
	Eventually(t, "the dependent is collected", gone(c, "configmap", "-n", ns))
}

// kubectl finds plugins on PATH, and tells them of the cluster by the environment.
func TestKubectlRunsPlugins(t *testing.T) {
	c := Shared(t)
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"plugin $* $KUBECONFIG\"\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl-hello"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if got, want := c.Kubectl(t, "hello", "--there"), "plugin --there "+c.Kubeconfig()+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVersionsAgree(t *testing.T) {
	got := Shared(t).Kubectl(t, "version")
	if strings.Count(got, "Version: v1.37.") != 2 || strings.Contains(got, "WARNING") {
		t.Errorf("kubectl version printed\n%s", got)
	}
}

func TestAPIServerArgs(t *testing.T) {
	t.Parallel()
	c := Start(t, NoControllers(), APIServerArgs("--runtime-config=batch/v1=false"))
	if got := c.Kubectl(t, "api-versions"); strings.Contains(got, "batch/v1") || !strings.Contains(got, "apps/v1") {
		t.Errorf("batch/v1 was switched off and apps/v1 was not, and there are\n%s", got)
	}
}

func TestStartFails(t *testing.T) {
	skipIfShort(t)
	_, err := start(t.TempDir(), []Option{APIServerArgs("--no-such-flag")})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") ||
		!strings.Contains(err.Error(), "apiserver.log") {
		t.Errorf("the error does not say why: %v", err)
	}
}
