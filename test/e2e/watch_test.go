package e2e

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// watched runs kubectl gc tree --watch and gives what it prints line by line.
type watched struct {
	t      *testing.T
	lines  chan string
	stderr bytes.Buffer
	code   chan int
}

func watch(ctx context.Context, t *testing.T, args ...string) *watched {
	t.Helper()
	r, w := io.Pipe()
	run := &watched{t: t, lines: make(chan string, 1000), code: make(chan int, 1)}
	go func() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: w, ErrOut: &run.stderr}
		run.code <- cmd.Main(ctx, streams, append([]string{"kubectl-gc", "tree", "--watch"}, args...))
		w.Close()
	}()
	go func() {
		defer close(run.lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			run.lines <- s.Text()
		}
	}()
	return run
}

// until reads lines until one contains all the words.
func (w *watched) until(words ...string) {
	w.t.Helper()
	deadline := time.After(time.Minute)
	var read []string
next:
	for {
		select {
		case line, more := <-w.lines:
			if !more {
				w.t.Fatalf("ended without %q:\n%s", words, strings.Join(read, "\n"))
			}
			read = append(read, line)
			for _, word := range words {
				if !strings.Contains(line, word) {
					continue next
				}
			}
			return
		case <-deadline:
			w.t.Fatalf("no line with %q within a minute:\n%s", words, strings.Join(read, "\n"))
		}
	}
}

// ends reads to the end, which comes when nothing is left.
func (w *watched) ends() {
	w.t.Helper()
	var read []string
	deadline := time.After(time.Minute)
	for {
		select {
		case line, more := <-w.lines:
			if more {
				read = append(read, line)
				continue
			}
			if code := <-w.code; code != 0 || !strings.Contains(w.stderr.String(), "Nothing is left of it.") {
				w.t.Errorf("exit code %d, stderr: %s", code, &w.stderr)
			}
			return
		case <-deadline:
			w.t.Fatalf("no end within a minute:\n%s", strings.Join(read, "\n"))
		}
	}
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c}]}
`

// TestWatchFollowsADeletionToItsEnd: the tree is drawn again when a dependent appears, when the
// root goes and leaves dependents behind (there is no collector), and ends when nothing is left.
func TestWatchFollowsADeletionToItsEnd(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, deployment, "-n", ns)
	testcluster.Eventually(t, "the deployment's pod", func(context.Context) (bool, error) {
		return c.Kubectl(t, "get", "pods", "-n", ns, "-o", "name") != "", nil
	})
	w := watch(t.Context(), t, "deployment/web", "-n", ns, "--kubeconfig", c.Kubeconfig())
	w.until("Deployment/web", "Active")
	c.Kubectl(t, "scale", "deployment/web", "--replicas=2", "-n", ns)
	w.until("Deployment/web", "0/2")
	c.Kubectl(t, "delete", "deployment/web", "-n", ns)
	w.until("Deployment/web", "Absent")
	c.Kubectl(t, "delete", "replicasets,pods", "--all", "-n", ns)
	w.ends()
}

// TestWatchEndsWhenInterrupted with exit code 0, and shows a new object of the namespace before
// that.
func TestWatchEndsWhenInterrupted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "first", "-n", ns)
	ctx, interrupt := context.WithCancel(t.Context())
	w := watch(ctx, t, "-n", ns, "--kubeconfig", c.Kubeconfig())
	w.until("ConfigMap/first")
	c.Kubectl(t, "create", "configmap", "second", "-n", ns)
	w.until("ConfigMap/second")
	interrupt()
	if code := <-w.code; code != 0 {
		t.Errorf("exit code %d, stderr: %s", code, &w.stderr)
	}
}

// TestWatchListsOnce: what a tree shows afterwards comes from watches.
func TestWatchListsOnce(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	lists := func() int {
		n := 0
		for _, r := range proxy.Requests() {
			if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
				n++
			}
		}
		return n
	}
	c.Kubectl(t, "create", "configmap", "first", "-n", ns)
	w := watch(t.Context(), t, "-n", ns, "--kubeconfig", proxy.Kubeconfig(t))
	w.until("ConfigMap/first")
	before := lists()
	for _, name := range []string{"second", "third"} {
		c.Kubectl(t, "create", "configmap", name, "-n", ns)
		w.until("ConfigMap/" + name)
		proxy.Cut()
	}
	c.Kubectl(t, "create", "configmap", "fourth", "-n", ns)
	w.until("ConfigMap/fourth")
	if now := lists(); before == 0 || now != before {
		t.Errorf("%d lists after the first tree, %d at the end", before, now)
	}
}

// TestWatchShowsATypeThatIsDefinedMeanwhile: while a tree is watched a CRD is made, and then an
// object of its kind that the root owns.
func TestWatchShowsATypeThatIsDefinedMeanwhile(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "gitops", testcluster.NoControllers())
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "root", "-n", ns)
	w := watch(t.Context(), t, "configmap/root", "-n", ns, "--kubeconfig", c.Kubeconfig())
	w.until("ConfigMap/root")
	fixture.Define(t, c, fixture.Kind{Group: "meanwhile.example.com", Kind: "Late"})
	uid := c.Kubectl(t, "get", "configmap", "root", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, `
apiVersion: meanwhile.example.com/v1
kind: Late
metadata: {name: comer, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: `+uid+`}]}
`, "-n", ns)
	w.until("Late/comer")
}
