package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// curing is a cluster in which commands are run as they are printed.
type curing struct {
	*testcluster.Cluster
	t         testing.TB
	namespace string
	path      string
}

// sh runs a command line as a person would who copies it.
func (c *curing) sh(line string) (string, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+line)
	cmd.Env = append(os.Environ(), "PATH="+c.path+string(os.PathListSeparator)+os.Getenv("PATH"),
		"KUBECONFIG="+c.Kubeconfig(), "KUBERC=off",
		"KUBECACHEDIR="+filepath.Join(c.t.TempDir(), "kubecache"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", line, err, out, &stderr)
	}
	return string(out), err
}

func (c *curing) must(format string, args ...any) {
	c.t.Helper()
	if _, err := c.sh(fmt.Sprintf(format, args...)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *curing) configMap(name, owners string, finalizers ...string) {
	c.t.Helper()
	c.Apply(c.t, fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s, finalizers: [%s], ownerReferences: [%s]}\n",
		name, c.namespace, strings.Join(finalizers, ", "), owners))
}

func (c *curing) blocking(owner string) string {
	uid := c.Kubectl(c.t, "get", "configmap", owner, "-n", c.namespace, "-o", "jsonpath={.metadata.uid}")
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s, blockOwnerDeletion: true}", owner, uid)
}

// why asks about an object until nobody has to be given more time.
func (c *curing) why(object string) *v1alpha1.Diagnosis {
	c.t.Helper()
	d := &v1alpha1.Diagnosis{}
	testcluster.Eventually(c.t, object+" is stuck", func(context.Context) (bool, error) {
		// exit code 2 tells that there is something
		out, err := c.sh(fmt.Sprintf("kubectl gc why %s -n %s -o json", object, c.namespace))
		*d = v1alpha1.Diagnosis{}
		if out == "" && err != nil && strings.Contains(err.Error(), "(NotFound)") {
			return true, nil // the collector was faster
		}
		if err := json.Unmarshal([]byte(out), d); err != nil {
			return false, fmt.Errorf("%w: %s", err, out)
		}
		inProgress := func(cause v1alpha1.Cause) bool { return cause.Code == string(core.InProgress) }
		return !slices.ContainsFunc(d.Stuck,
			func(s v1alpha1.Stuck) bool { return slices.ContainsFunc(s.Causes, inProgress) }), nil
	})
	return d
}

// cure runs what why prints for an object until it is gone: of each cause, the last command, which
// is the one that does not need somebody else. It returns the codes in the order in which they were
// cured.
func (c *curing) cure(object string) []string {
	c.t.Helper()
	var codes []string
	for range 5 {
		if _, err := c.sh(fmt.Sprintf("kubectl get %s -n %s", object, c.namespace)); err != nil {
			return codes
		}
		d := c.why(object)
		if d.Kind == "" {
			return codes
		}
		if len(d.Stuck) != 1 || len(d.Stuck[0].Causes) == 0 {
			c.t.Fatalf("no causes for %s: %+v", object, d)
		}
		ran := map[string]bool{}
		for _, cause := range d.Stuck[0].Causes {
			codes = append(codes, cause.Code)
			line := cause.Commands[len(cause.Commands)-1]
			if ran[line] {
				continue // it ends alike causes at once
			}
			ran[line] = true
			if strings.HasPrefix(line, "kubectl gc ") {
				line += " --yes"
			}
			if _, err := c.sh(line); err != nil {
				c.t.Fatalf("%s: %v", cause.Code, err)
			}
		}
	}
	c.t.Fatalf("%s is not gone after %v", object, codes)
	return nil
}

// TestWhyCommandsFree makes objects that cannot go, each for another cause, and runs nothing but
// what is printed.
func TestWhyCommandsFree(t *testing.T) {
	t.Parallel()
	without, with := testcluster.Shared(t), testcluster.Another(t, "cures", testcluster.Controllers(testcluster.Collector))
	path := script.LinkKubectl(t, without)
	for _, test := range []struct {
		name    string
		cluster *testcluster.Cluster
		make    func(*curing)
		codes   string
	}{
		{"finalizer", with, func(c *curing) {
			c.configMap("it", "", "nobody.example.net/x")
			c.must("kubectl delete configmap it -n %s --wait=false", c.namespace)
		}, "FinalizerActorUnknown"},
		{"two finalizers", with, func(c *curing) {
			c.configMap("it", "", "nobody.example.net/x", "nobody.example.net/y")
			c.must("kubectl delete configmap it -n %s --wait=false", c.namespace)
		}, "FinalizerActorUnknown FinalizerActorUnknown"},
		{"foreground, held below", with, func(c *curing) {
			c.configMap("it", "")
			c.configMap("below", c.blocking("it"), "nobody.example.net/x")
			c.must("kubectl delete configmap it -n %s --wait=false --cascade=foreground", c.namespace)
			c.must("kubectl delete configmap below -n %s --wait=false", c.namespace)
		}, "FinalizerActorUnknown"},
		{"foreground, collector off", without, func(c *curing) {
			c.configMap("it", "")
			c.configMap("below", c.blocking("it"))
			c.must("kubectl delete configmap it -n %s --wait=false --cascade=foreground", c.namespace)
		}, "CollectorNotActing"},
		{"orphan, collector off", without, func(c *curing) {
			c.configMap("it", "")
			c.configMap("below", c.blocking("it"))
			c.must("kubectl delete configmap it -n %s --wait=false --cascade=orphan", c.namespace)
		}, "CollectorNotActing"},
		{"cycle", without, func(c *curing) {
			c.configMap("it", "")
			c.configMap("other", c.blocking("it"))
			c.configMap("it", c.blocking("other"))
			c.must("kubectl delete configmap it other -n %s --wait=false --cascade=foreground", c.namespace)
		}, "ForegroundDeadlock"},
		{"self-reference", without, func(c *curing) {
			c.configMap("it", "")
			c.configMap("it", c.blocking("it"))
			c.must("kubectl delete configmap it -n %s --wait=false --cascade=foreground", c.namespace)
		}, "SelfReference"},
		{"blocker of a kind that is not served", with, func(c *curing) {
			c.configMap("it", "")
			c.configMap("below", c.blocking("it")+
				", {apiVersion: gone.example.com/v1, kind: Gone, name: g, uid: 00000000-0000-0000-0000-000000000001}")
			c.must("kubectl delete configmap it -n %s --wait=false --cascade=foreground", c.namespace)
		}, "BlockerUnresolvable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := &curing{test.cluster, t, test.cluster.Namespace(t), path}
			test.make(c)
			if codes := strings.Join(c.cure("configmap/it"), " "); codes != test.codes {
				t.Errorf("cured %s, want %s", codes, test.codes)
			}
		})
	}
	t.Run("namespace", func(t *testing.T) {
		t.Parallel()
		c := &curing{without, t, without.Namespace(t), path}
		c.configMap("free", "")
		c.configMap("held", "", "nobody.example.net/x")
		c.must("kubectl delete configmap held -n %s --wait=false", c.namespace)
		c.must("kubectl delete namespace %s --wait=false", c.namespace)
		for range 5 {
			d := c.why("namespace/" + c.namespace)
			for _, cause := range d.Stuck[0].Causes {
				for _, line := range cause.Commands { // of a namespace all of them, in their order
					if strings.HasPrefix(line, "kubectl gc ") {
						line += " --yes"
					}
					if _, err := c.sh(line); err != nil {
						t.Fatalf("%s: %v", cause.Code, err)
					}
				}
			}
			if c.Command(context.WithoutCancel(t.Context()), "get", "namespace", c.namespace).Run() != nil {
				return
			}
		}
		t.Error("the namespace is not gone")
	})
}
