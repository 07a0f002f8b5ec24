package e2e

import (
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
)

// startOnTerminal starts kubectl gc on a terminal of its own, but for stderr. What is typed goes to
// stdin.
func startOnTerminal(t *testing.T, args ...string) *process {
	t.Helper()
	return startOnTerminalOf(t, 0, args...)
}

// startOnTerminalOf is startOnTerminal on a terminal with a number of columns.
func startOnTerminalOf(t *testing.T, columns int, args ...string) *process {
	t.Helper()
	keyboard, screen := onTerminal(t, columns)
	p := newProcess(t, args...)
	p.stdin, p.cmd.Stdin, p.cmd.Stdout = keyboard, screen, screen
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.run()
	screen.Close()
	p.read = make(chan struct{})
	go func() {
		_, _ = io.Copy(&p.stdout, keyboard) // until nobody has the terminal any more
		close(p.read)
	}()
	return p
}

// writes counts what was asked of a server besides reads, questions about rights and dry runs.
func writes(proxy *faultproxy.Proxy) (n int) {
	for _, r := range proxy.Requests() {
		if r.Method != http.MethodGet && !strings.Contains(r.Path, "/selfsubject") && !r.Query.Has("dryRun") &&
			!strings.Contains(string(r.Body), `"dryRun"`) {
			n++
		}
	}
	return n
}

// TestInterruptedAtAPrompt: Ctrl-C and SIGTERM end a command that asks. Nothing was written then.
func TestInterruptedAtAPrompt(t *testing.T) {
	const question = "Do you want to continue? (y/N): "
	const interrupt = "\x03" // what Ctrl-C types
	tests := map[string]struct {
		args []string
		// typed answers the first question, so that there is another.
		typed, question string
		without         bool // a terminal
		stderr          string
	}{
		"delete": {args: []string{"delete", "configmap/one"}, question: question},
		"delete of some that are not there": {args: []string{"delete", "configmap/one", "configmap/other"},
			question: question, stderr: `configmaps "other" not found`},
		"delete --interactive, no terminal": {args: []string{"delete", "configmap/one", "-i"}, question: question,
			without: true},
		"run": {args: []string{"run", "-l", "app=left", "--allow-mass-collection"},
			question: question},
		"unfinalize": {args: []string{"unfinalize", "configmap/one", "--finalizer",
			"example.com/hold", "--force-live"}, question: question},
		"unfinalize, choosing finalizers": {args: []string{"unfinalize", "configmap/one", "--force-live"},
			question: "nothing cancels): "},
		"unfinalize, after choosing finalizers": {args: []string{"unfinalize", "configmap/one", "--force-live"}, typed: "1\n",
			question: question},
	}
	c, ns, proxy := withConfigMaps(t)
	c.Apply(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: one, finalizers: [example.com/hold]}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: left
  labels: {app: left}
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: 00000000-0000-4000-8000-000000000000}]
`, "-n", ns)
	kubeconfig := proxy.Kubeconfig(t)
	for name, tt := range tests {
		for how, end := range map[string]func(*process){
			"Ctrl-C":  func(p *process) { _, _ = io.WriteString(p.stdin, interrupt) },
			"SIGTERM": func(p *process) { p.signal(syscall.SIGTERM) },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				if tt.without && how == "Ctrl-C" {
					end = func(p *process) { p.signal(os.Interrupt) }
				}
				launch := startOnTerminal
				if tt.without {
					launch = start
				}
				p := launch(t, append(tt.args, "-n", ns, "--kubeconfig", kubeconfig)...)
				if tt.typed != "" {
					p.until(&p.stdout, "nothing cancels): ")
					_, _ = io.WriteString(p.stdin, tt.typed)
				}
				p.until(&p.stdout, tt.question)
				end(p)
				code, stderr := p.code(), p.stderr.String()
				if code != 130 || !strings.Contains(stderr, tt.stderr) || !strings.HasSuffix(stderr, "error: interrupted\n") {
					t.Errorf("exit code %d, stderr: %s", code, stderr)
				}
				if out := p.stdout.String(); !strings.HasSuffix(out, "\n") {
					t.Errorf("the question and the shell's prompt are on one line: %q", out)
				}
			})
		}
	}
	t.Cleanup(func() {
		if n := writes(proxy); n != 0 {
			t.Errorf("%d writes", n)
		}
	})
}

// TestQuestionFitsTheTerminal: what unfinalize asks is wrapped between words where the terminal
// ends.
func TestQuestionFitsTheTerminal(t *testing.T) {
	const columns = 60
	c, ns, _ := withConfigMaps(t)
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/a-finalizer-with-a-long-name]}}", "-n", ns)
	c.Kubectl(t, "delete", "configmap", "held", "-n", ns, "--wait=false")
	p := startOnTerminalOf(t, columns, "unfinalize", "configmap/held", "--finalizer",
		"example.com/a-finalizer-with-a-long-name", "-n", ns, "--kubeconfig", c.Kubeconfig())
	p.until(&p.stdout, prompt)
	_, _ = io.WriteString(p.stdin, "n\n")
	p.code()
	seen := p.stdout.String()
	_, question, found := strings.Cut(seen, "Finalizer example.com/a-finalizer-with-a-long-name:")
	if !found {
		t.Fatalf("the question does not say what it skips:\n%s", seen)
	}
	for line := range strings.Lines("Finalizer example.com/a-finalizer-with-a-long-name:" + question) {
		if line = strings.TrimRight(line, "\r\n"); len(line) > columns {
			t.Errorf("a line of the question has %d columns: %q", len(line), line)
		}
	}
}
