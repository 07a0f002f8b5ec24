package e2e

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// typing types on a terminal.
func (p *process) typing(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, keys); err != nil {
		p.t.Fatal(err)
	}
}

// TestWhyInteractiveRunsTheFirstStepAfterAQuestion: of two causes one is opened; its command is run
// only when that was agreed to, and is exactly the one that is printed. One of kubectl gc shows its
// own plan and asks about it.
func TestWhyInteractiveRunsTheFirstStepAfterAQuestion(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, `apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [example.com/hold]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: loop}
`, "-n", ns)
	uid := c.Kubectl(t, "get", "configmap/loop", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Kubectl(t, "patch", "configmap/loop", "-n", ns, "--type=merge", "-p",
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"loop","uid":"`+uid+`","blockOwnerDeletion":true}]}}`)
	c.Kubectl(t, "delete", "configmap", "held", "loop", "-n", ns, "--cascade=foreground", "--wait=false")
	exists := func(name string) bool {
		return c.Kubectl(t, "get", "configmap/"+name, "-n", ns, "--ignore-not-found", "-o", "name") != ""
	}

	p := startOnTerminalOf(t, 250, "why", "configmap/held", "configmap/loop", "-n", ns, "-i", "--kubeconfig="+c.Kubeconfig())
	p.until(&p.stdout, "> configmap/held in "+ns)
	p.until(&p.stdout, "configmap/loop in "+ns+": ")
	p.typing("G\r") // the last one
	p.until(&p.stdout, "--cascade=background")
	p.typing("r")
	p.until(&p.stdout, "kubectl gc delete configmaps/loop -n "+ns+" --cascade=background --kubeconfig "+c.Kubeconfig()+"\r\n")
	p.until(&p.stdout, "Do you want to continue? (y/N): ")
	p.typing("n\r")
	p.until(&p.stdout, "cancelled; nothing was run")
	if !exists("loop") {
		t.Fatal("it ran without being agreed to")
	}
	p.typing("r")
	asked := func(n int) {
		t.Helper()
		testcluster.Eventually(t, "another question", func(context.Context) (bool, error) {
			return strings.Count(p.stdout.String(), "(y/N): ") >= n, nil
		})
	}
	asked(2)
	p.typing("y\r")
	asked(3) // of kubectl gc delete, below its plan
	if !exists("loop") {
		t.Fatal("the plan ran without being agreed to")
	}
	p.typing("y\r")
	p.until(&p.stdout, "Press Enter to examine again: ")
	if exists("loop") {
		t.Error("the command was agreed to, and did not run")
	}
	p.typing("\r")
	p.until(&p.stdout, `configmaps "loop" not found`)
	asks := strings.Count(p.stdout.String(), "q: leave")
	testcluster.Eventually(t, "the list of what is left", func(context.Context) (bool, error) {
		return strings.Count(p.stdout.String(), "q: leave") > asks, nil
	})
	p.typing("q")
	if code := p.code(); code != 2 {
		t.Errorf("exit code %d, want 2 as the other is still stuck\n%s%s", code, &p.stdout, &p.stderr)
	}
	c.Kubectl(t, "patch", "configmap/held", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}

// TestWhyInteractiveIsLeft with q, by which nothing was run, and with Ctrl-C, which is a key there.
func TestWhyInteractiveIsLeft(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: [example.com/hold]}\n", "-n", ns)
	c.Kubectl(t, "delete", "configmap/held", "-n", ns, "--wait=false")
	t.Cleanup(func() {
		c.Kubectl(t, "patch", "configmap/held", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	})
	p := startOnTerminalOf(t, 80, "why", "configmap/held", "-n", ns, "--interactive", "--kubeconfig="+c.Kubeconfig())
	p.until(&p.stdout, "q: leave")
	p.typing("q")
	if code := p.code(); code != 2 {
		t.Errorf("exit code %d, want 2 as it is still stuck\n%s%s", code, &p.stdout, &p.stderr)
	}
	p = startOnTerminalOf(t, 80, "why", "configmap/held", "-n", ns, "--interactive", "--kubeconfig="+c.Kubeconfig())
	p.until(&p.stdout, "q: leave")
	p.typing("\x03")
	if code := p.code(); code != 130 || !strings.Contains(p.stderr.String(), "error: interrupted") {
		t.Errorf("Ctrl-C: exit code %d, want 130\n%s%s", code, &p.stdout, &p.stderr)
	}
	got := run(t, "why", "configmap/held", "-n", ns, "-i", "--kubeconfig="+c.Kubeconfig())
	if got.code != 1 || !strings.Contains(got.stderr, "error: --interactive needs a terminal\n") {
		t.Errorf("without a terminal: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// TestUnfinalizeInteractiveAsksAboutWhatWasChosen: one finalizer of all that are stuck is chosen, of
// which the plan is shown then. Only yes removes it, and no other.
func TestUnfinalizeInteractiveAsksAboutWhatWasChosen(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, `apiVersion: v1
kind: ConfigMap
metadata: {name: one, finalizers: [example.com/a]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: two, finalizers: [example.com/b, example.com/c]}
`, "-n", ns)
	c.Kubectl(t, "delete", "configmap", "one", "two", "-n", ns, "--wait=false")
	t.Cleanup(func() {
		for _, name := range []string{"one", "two"} {
			c.Kubectl(t, "patch", "configmap/"+name, "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		}
	})
	finalizers := func() string {
		return c.Kubectl(t, "get", "configmaps", "one", "two", "-n", ns, "-o", "jsonpath={.items[*].metadata.finalizers}")
	}
	const all = `["example.com/a"] ["example.com/b","example.com/c"]`
	for _, tt := range []struct {
		answer, left string
		code         int
	}{{"n", all, 2}, {"y", `["example.com/a"] ["example.com/b"]`, 0}} {
		p := startOnTerminalOf(t, 250, "unfinalize", "configmap", "--all-stuck", "-n", ns, "-i", "--kubeconfig="+c.Kubeconfig())
		p.until(&p.stdout, "> configmap/one in "+ns+": example.com/a (refused: actor unknown)")
		p.typing("G\r")
		p.until(&p.stdout, "Esc: back")
		p.typing("r")
		p.until(&p.stdout, "Do you want to continue? (y/N): ")
		if got := finalizers(); got != all {
			t.Fatalf("without an answer %s is left", got)
		}
		p.typing(tt.answer + "\r")
		if code := p.code(); code != tt.code {
			t.Errorf("answer %s: exit code %d, want %d\n%s%s", tt.answer, code, tt.code, &p.stdout, &p.stderr)
		}
		if got := finalizers(); got != tt.left {
			t.Errorf("answer %s: %s is left, want %s", tt.answer, got, tt.left)
		}
	}
	got := run(t, "unfinalize", "configmap", "--all-stuck", "-n", ns, "-i", "--kubeconfig="+c.Kubeconfig())
	if got.code != 1 || !strings.Contains(got.stderr, "error: --interactive needs a terminal\n") {
		t.Errorf("without a terminal: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
