package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// stageOf names what a command is about when it sends a request.
func stageOf(r *http.Request) string {
	q, path := r.URL.Query(), strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(path) == 1 || path[0] == "apis" && len(path) == 3 || path[0] == "api" && len(path) == 2:
		return "discovery"
	case q.Get("watch") != "":
		return "watch"
	case q.Get("dryRun") != "" || strings.Contains(bodyOf(r), `"dryRun"`):
		return "dry run of " + r.Method
	case strings.Contains(r.Header.Get("Accept"), "as=Table"):
		return "table"
	case q.Has("limit"):
		return "list"
	case strings.HasPrefix(path[len(path)-1], "selfsubject"):
		return "rights"
	}
	return r.Method
}

// bodyOf reads the body of a request and leaves it there.
func bodyOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}

// silentFrom makes a server silent at each stage that a command comes to for the first time. The
// stages that are passed are answered.
type silentFrom struct {
	mu     sync.Mutex
	passed []string
	silent chan string // the stage at which it is silent now
}

func (s *silentFrom) fault(w http.ResponseWriter, r *http.Request, next http.Handler) {
	stage := stageOf(r)
	s.mu.Lock()
	passes := slices.Contains(s.passed, stage)
	s.mu.Unlock()
	if passes {
		next.ServeHTTP(w, r)
		return
	}
	select {
	case s.silent <- stage:
	default:
	}
	faultproxy.Hang()(w, r, next)
}

func (s *silentFrom) pass(stage string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed = append(s.passed, stage)
}

// TestInterruptedWhileTheServerIsSilent: at whatever stage a server stops to answer, a command ends
// when it is interrupted, and says so.
func TestInterruptedWhileTheServerIsSilent(t *testing.T) {
	files := t.TempDir()
	tests := map[string]struct {
		args   []string // %s is a name
		object string
		stages []string // that it comes to, among others
		writes string   // the stage at which it is to say what it has not finished
		says   string   // what it is to say then instead, such as how it goes on
		// quiet says that the command's end is no error.
		quiet bool
	}{
		"tree": {args: []string{"tree", "configmap/%s"}, stages: []string{"discovery", "list", "table"}},
		"tree --watch": {args: []string{"tree", "configmap/%s", "--watch"},
			stages: []string{"discovery", "list", "table", "watch"}, quiet: true},
		"delete": {args: []string{"delete", "configmap/%s", "--yes", "--cascade=foreground"},
			stages: []string{"discovery", "list", "rights", "dry run of DELETE", "DELETE", "watch"}},
		"unfinalize": {args: []string{"unfinalize", "configmap/%s", "--finalizer", "example.com/hold", "--yes",
			"--force", "--force-live"}, stages: []string{"discovery", "GET", "list", "dry run of PATCH", "PATCH"},
			writes: "PATCH"},
		"unfinalize --all": {args: []string{"unfinalize", "configmaps", "-l", "name=%s", "--finalizer", "example.com/hold",
			"--yes", "--force", "--force-live"}, stages: []string{"discovery", "list", "GET", "PATCH"}},
		"wait": {args: []string{"wait", "configmap/%s"}, object: "waiting",
			stages: []string{"discovery", "list", "watch"}},
		"why": {args: []string{"why", "configmap/%s"}, object: "waiting",
			stages: []string{"discovery", "list", "GET"}},
		"check": {args: []string{"check", "configmap/%s"}, object: "orphan",
			stages: []string{"discovery", "list", "GET"}},
		"archive": {args: []string{"archive", "configmap/%s", "--to=" + files + "/%s"},
			stages: []string{"discovery", "list", "GET"}},
		"snapshot": {args: []string{"snapshot", files + "/saved-%s"}, stages: []string{"discovery", "GET", "list"}},
		"why --probe": {args: []string{"why", "configmap/%s", "--probe"}, object: "waiting",
			stages: []string{"discovery", "list", "POST", "watch"}},
		"run": {args: []string{"run", "-l", "name=%s", "--yes", "--allow-mass-collection"}, object: "orphan",
			stages: []string{"discovery", "list", "GET", "DELETE"}},
		"run --watch": {args: []string{"run", "-l", "name=%s", "--yes", "--allow-mass-collection", "--watch"},
			object: "orphan", stages: []string{"discovery", "list", "GET", "DELETE", "watch"}, quiet: true},
		"restore": {args: []string{"restore", "-f=" + files + "/lost-%s", "--yes"}, object: "archived",
			stages: []string{"discovery", "GET", "rights", "POST", "PATCH"}, writes: "POST"},
		"rescue": {args: []string{"rescue", "configmap/%s", "--archive=" + files + "/held-%s", "--force", "--yes"},
			object: "held",
			stages: []string{"discovery", "GET", "list", "rights", "dry run of PATCH", "PATCH", "POST"}, writes: "POST",
			says: "the same command goes on from the archive: add --archive " + files + "/held-%s"},
		"completion": {args: []string{"__complete", "tree", "configmap/%s"}, stages: []string{"discovery", "list"},
			quiet: true},
	}
	c := testcluster.Shared(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			const most = 12
			objects := manyObjects(c, t, ns, tt.object, most)
			if tt.object == "archived" {
				loseThem(c, t, ns, objects, files)
			}
			proxy := faultproxy.Start(t, c.Config())
			server := &silentFrom{silent: make(chan string, 1)}
			proxy.On(func(*http.Request) bool { return true }, server.fault)
			kubeconfig := proxy.Kubeconfig(t)
			var seen []string
			unseen := slices.Clone(tt.stages)
			for i := 0; i < most && len(unseen) > 0; i++ {
				args := slices.Clone(tt.args)
				for j := range args {
					args[j] = strings.ReplaceAll(args[j], "%s", objects[i])
				}
				last := len(args) - 1 // a completion is of the last word
				args = slices.Insert(args, last, "--kubeconfig", kubeconfig)
				if tt.object != "archived" { // an archive says where its objects were
					args = slices.Insert(args, last, "-n", ns)
				}
				stage, ended := interruptAt(t, server, args)
				if stage == "" {
					break
				}
				seen = append(seen, stage)
				unseen = slices.DeleteFunc(unseen, func(s string) bool { return s == stage })
				says := "interrupted; not finished: ConfigMap/%s"
				if tt.says != "" {
					says = tt.says
				}
				if says = strings.ReplaceAll(says, "%s", objects[i]); stage == tt.writes && !strings.Contains(ended.stderr, says) {
					t.Errorf("it does not say %q: %s", says, ended.stderr)
				}
				if !tt.quiet && (ended.code != 130 || !strings.Contains(ended.stderr, "interrupted")) {
					t.Errorf("at the stage %s: exit code %d, stderr: %s", stage, ended.code, ended.stderr)
				}
				server.pass(stage)
			}
			if len(unseen) > 0 {
				t.Errorf("it was not interrupted at the stages %q, only at %q", unseen, seen)
			}
		})
	}
}

// interruptAt runs a command until the server is silent, and interrupts it. The stage is empty if
// the command comes to its end before.
func interruptAt(t *testing.T, server *silentFrom, args []string) (string, ran) {
	t.Helper()
	select {
	case <-server.silent: // of the last time, if it was several times
	default:
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out, errOut script.Buffer
	ended := make(chan int, 1)
	go func() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
		ended <- cmd.Main(ctx, streams, append([]string{"kubectl-gc"}, args...))
	}()
	stage := ""
	select {
	case code := <-ended:
		return "", ran{code, out.String(), errOut.String()}
	case stage = <-server.silent:
	case <-time.After(time.Minute):
		t.Fatalf("%q has passed the stages %q and neither ends nor asks for more; stderr: %s", args, server.passed,
			errOut.String())
	}
	interrupt()
	select {
	case code := <-ended:
		return stage, ran{code, out.String(), errOut.String()}
	case <-time.After(20 * time.Second):
		t.Fatalf("%q goes on after it was interrupted while the server is silent at the stage %s", args, stage)
	}
	return "", ran{}
}

// manyObjects makes config maps that are labelled by their names: with a finalizer, or in
// foreground deletion for "waiting", or with an owner that is gone for "orphan". With "held" they
// are being deleted and have a finalizer, and with "archived" and "held" they have a dependent
// each, with another owner too.
func manyObjects(c *testcluster.Cluster, t *testing.T, ns, kind string, n int) []string {
	t.Helper()
	var names []string
	var manifest strings.Builder
	for i := range n {
		name := fmt.Sprintf("c%02d", i)
		names = append(names, name)
		more := "finalizers: [example.com/hold]"
		switch kind {
		case "waiting", "archived":
			more = ""
		case "orphan":
			more = fmt.Sprintf(
				"ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone-%s, uid: 00000000-0000-4000-8000-0000000000%02d}]",
				name, i)
		}
		fmt.Fprintf(&manifest, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {name: %s}, %s}\n---\n", name,
			name, more)
	}
	c.Apply(t, manifest.String(), "-n", ns)
	if kind == "held" || kind == "archived" {
		dependOn(c, t, ns, names)
	}
	switch kind {
	case "waiting":
		c.Kubectl(t, append([]string{"delete", "configmap", "--cascade=foreground", "--wait=false", "-n", ns}, names...)...)
	case "held":
		c.Kubectl(t, append([]string{"delete", "configmap", "--wait=false", "-n", ns}, names...)...)
	}
	return names
}

// dependOn makes a dependent of each of some config maps. It has another owner, so that it outlives
// that one.
func dependOn(c *testcluster.Cluster, t *testing.T, ns string, names []string) {
	t.Helper()
	var manifest strings.Builder
	c.Kubectl(t, "create", "secret", "generic", "other", "-n", ns)
	other := c.Kubectl(t, "get", "secret", "other", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	for _, name := range names {
		fmt.Fprintf(
			&manifest, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-%s, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s}, "+
				"{apiVersion: v1, kind: Secret, name: other, uid: %s}]}\n---\n", name, name, uidOf(t, c, ns, name), other)
	}
	c.Apply(t, manifest.String(), "-n", ns)
}

// loseThem archives each of some config maps with its dependents, in a file named after it, and
// deletes it.
func loseThem(c *testcluster.Cluster, t *testing.T, ns string, names []string, dir string) {
	t.Helper()
	for _, name := range names {
		args := []string{"archive", "configmap/" + name, "--to=" + dir + "/lost-" + name, "-n", ns, "--kubeconfig",
			c.Kubeconfig()}
		if code, _, stderr := script.InProcess(t.Context(), "", args...); code != 0 {
			t.Fatalf("archiving %s: exit code %d: %s", name, code, stderr)
		}
	}
	c.Kubectl(t, append([]string{"delete", "configmap", "-n", ns}, names...)...)
}

// TestTheSecondSignalEndsTheProcess, which after the first one still waits for the answer to a
// write.
func TestTheSecondSignalEndsTheProcess(t *testing.T) {
	c, ns, proxy := withConfigMaps(t, "one")
	silent := make(chan struct{}, 1)
	proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		silent <- struct{}{}
		faultproxy.Hang()(w, r, next)
	})
	p := start(t, "delete", "configmap/one", "-n", ns, "--kubeconfig", proxy.Kubeconfig(t), "--yes")
	<-silent
	for ended := false; !ended; {
		p.signal(syscall.SIGTERM)
		select {
		case <-p.ended:
			ended = true
		case <-time.After(50 * time.Millisecond):
		}
	}
	if code := p.code(); code != -1 {
		t.Errorf("exit code %d, stderr: %s", code, &p.stderr)
	}
	if uidOf(t, c, ns, "one") == "" {
		t.Error("it was deleted")
	}
}

// TestInterruptedWhileNobodyReadsWhatItPrints, as when a pager is full.
func TestInterruptedWhileNobodyReadsWhatItPrints(t *testing.T) {
	c := testcluster.Shared(t)
	p := newProcess(t, "tree", "-A", "-o", "json", "--kubeconfig", c.Kubeconfig())
	pager, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pager.Close()
	p.cmd.Stdout = full
	p.run()
	full.Close()
	if _, err := pager.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGTERM)
	if code := p.code(); code != 130 || p.stderr.String() != "error: interrupted\n" {
		t.Errorf("exit code %d, stderr: %s", code, &p.stderr)
	}
}

// TestInterruptedWhileItReadsStandardInput, which kubectl's library does without a context.
func TestInterruptedWhileItReadsStandardInput(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, verb := range []string{"tree", "delete", "wait", "why", "check", "unfinalize"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			args := []string{verb, "-f", "-", "-n", ns, "--kubeconfig", c.Kubeconfig()}
			if verb == "delete" || verb == "unfinalize" {
				args = append(args, "--yes")
			}
			p := start(t, args...)
			// More than a pipe holds, so that it is being read when all is written.
			if _, err := io.WriteString(p.stdin,
				"apiVersion: v1\nkind: ConfigMap\n"+strings.Repeat("# and so on\n", 20_000)); err != nil {
				t.Fatal(err)
			}
			p.signal(os.Interrupt)
			if code := p.code(); code != 130 || !strings.Contains(p.stderr.String(), "error: interrupted") {
				t.Errorf("exit code %d, stderr: %s", code, &p.stderr)
			}
		})
	}
}

// TestInterruptedWhileACredentialPluginRuns, to which client-go gives no context.
func TestInterruptedWhileACredentialPluginRuns(t *testing.T) {
	c := testcluster.Shared(t)
	dir := t.TempDir()
	raw, err := os.ReadFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	token := regexp.MustCompile(`(?m)^( *)token: .*`)
	slow := fmt.Sprintf(
		"${1}exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, 'exec 2>&-; touch %[1]s/runs; while test -e %[1]s; do sleep 0.1; done'], interactiveMode: Never}", dir)
	if err := os.WriteFile(dir+"/kubeconfig", token.ReplaceAll(raw, []byte(slow)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"tree", "run"} {
		p := start(t, verb, "--kubeconfig", dir+"/kubeconfig")
		testcluster.Eventually(t, "the plugin runs",
			func(context.Context) (bool, error) { return os.Remove(dir+"/runs") == nil, nil })
		p.signal(os.Interrupt)
		if code := p.code(); code != 130 || p.stderr.String() != "error: interrupted\n" {
			t.Errorf("%s: exit code %d, stderr: %s", verb, code, &p.stderr)
		}
	}
}

// TestInterruptedWhenAPlanThatHasGrownIsAskedAbout: what was not agreed to is not done, and what
// was done before is told.
func TestInterruptedWhenAPlanThatHasGrownIsAskedAbout(t *testing.T) {
	c, ns, proxy := withConfigMaps(t, "one")
	proxy.On(deletes, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		patch(t, c, ns, "one", `{"metadata":{"finalizers":["example.com/new"]}}`)
		next.ServeHTTP(w, r)
	}))
	p := start(t, "delete", "configmap/one", "-i", "-n", ns, "--kubeconfig", proxy.Kubeconfig(t))
	p.until(&p.stdout, "(y/N): ")
	if _, err := io.WriteString(p.stdin, "y\n"); err != nil {
		t.Fatal(err)
	}
	p.until(&p.stderr, "the new plan does more")
	testcluster.Eventually(t, "it asks again",
		func(context.Context) (bool, error) { return strings.Count(p.stdout.String(), "(y/N): ") == 2, nil })
	p.signal(os.Interrupt)
	if code := p.code(); code != 130 || !strings.Contains(p.stderr.String(), "error: interrupted") {
		t.Errorf("exit code %d, stderr: %s", code, &p.stderr)
	}
	if uidOf(t, c, ns, "one") == "" || len(sent(proxy)) != 1 {
		t.Errorf("it was deleted, or this was tried again: %v", sent(proxy))
	}
}
