package faults

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const (
	// requestTimeout is what a command allows a request, enough for a busy machine, and hangTimeout
	// what it allows one that is never answered.
	requestTimeout = 30 * time.Second
	hangTimeout    = 3 * time.Second
	// grace is how long a command may take once it is interrupted.
	grace = 15 * time.Second
)

// injection is a fault in a run.
type injection struct {
	key string
	// nth says which of the requests meets it, from 1; 0 means each.
	nth   int
	fault faultproxy.Fault
	hangs bool
}

// outcome is what came of a run.
type outcome struct {
	code           int
	stdout, stderr string
	said           *output
	unreadable     error
	took           time.Duration
	// timeout is that of the command, if it has one.
	timeout time.Duration
	// late says that it had to be interrupted.
	late bool
	// requests are what it asked, in order; met is how many of them met the fault.
	requests []request
	met      int
	// after is what there was afterwards, and later what there was after another run of the
	// collector's loop, nil if there was none.
	after, later state
	// again is what there was after the same command once more, nil if it did not run; failed is
	// what that said if its exit code is not 0.
	again    state
	failed   string
	archived string
}

// runner runs commands, one at a time, in a world of its own and through a proxy of its own.
type runner struct {
	*world
	cluster           *testcluster.Cluster
	kubeconfig, files string

	mu        sync.Mutex
	injection injection
	counts    map[string]int
	requests  []request
	met       int
	old       bool
}

func newRunner(t *testing.T, c *testcluster.Cluster) *runner {
	t.Helper()
	k := &runner{world: newWorld(t, c), cluster: c, files: t.TempDir()}
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(*http.Request) bool { return true }, k.serve)
	k.kubeconfig = proxy.Kubeconfig(t)
	return k
}

// serve records a request, and has it meet the fault if it is its turn.
func (k *runner) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	k.mu.Lock()
	q := parse(r, k.namespace)
	if k.spare != "" {
		q.key = strings.ReplaceAll(q.key, k.spare, "{spare}")
	}
	k.requests = append(k.requests, q)
	k.counts[q.key]++
	in := k.injection
	meets := in.fault != nil && in.key == q.key && (in.nth == 0 || in.nth == k.counts[q.key])
	if meets {
		k.met++
	}
	old := k.old
	k.mu.Unlock()
	if old && q.class == discovery {
		r.Header.Set("Accept", "application/json")
	}
	if meets {
		in.fault(w, r, next)
		return
	}
	next.ServeHTTP(w, r)
}

// timeoutAfter is the time-out of a command: that of the flag, or longer on a machine that needs
// most of it without a fault.
func timeoutAfter(healthy *outcome) time.Duration { return atLeast(*waiting, healthy) }

// patience is how long a command may take beyond its time-out for one request after the other: to
// say why it has waited in vain.
func patience(healthy *outcome) time.Duration { return atLeast(20*time.Second, healthy) }

// limit is when a command is interrupted.
func limit(healthy *outcome) time.Duration {
	return timeoutAfter(healthy) + patience(healthy) + 20*time.Second
}

// atLeast is a time that suits a machine on which the command takes what it took without a fault.
func atLeast(least time.Duration, healthy *outcome) time.Duration {
	if healthy == nil {
		return least
	}
	return max(least, 3*healthy.took)
}

// run builds the world, runs the command with a fault, and reads what came of it.
func (k *runner) run(s *scenario, in injection, healthy *outcome) *outcome {
	k.t.Helper()
	k.build(s.world)
	k.removeFiles()
	file := filepath.Join(k.files, "archive.yaml")
	k.mu.Lock()
	k.injection, k.counts, k.requests, k.met, k.old = in, map[string]int{}, nil, 0, s.old
	k.mu.Unlock()
	args := slices.Clone(s.args)
	words := strings.NewReplacer("{ns}", k.namespace, "{spare}", k.spare, "{file}", file, "{lost}", k.archive, "{timeout}",
		timeoutAfter(healthy).String())
	for i := range args {
		args[i] = words.Replace(args[i])
	}
	plain := append(slices.Clone(args), "--kubeconfig="+k.cluster.Kubeconfig())
	timeout := requestTimeout
	if in.hangs {
		timeout = hangTimeout
	}
	args = append(args, "--kubeconfig="+k.kubeconfig, "--request-timeout="+timeout.String())

	ctx, cancel := context.WithTimeout(context.Background(), limit(healthy))
	defer cancel()
	if s.endless && healthy != nil {
		go k.interrupt(ctx, cancel, healthy.after.words())
	}
	out := &outcome{timeout: timeoutAfter(healthy)}
	ended := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		out.code, out.stdout, out.stderr = script.InProcess(ctx, "", args...)
	}()
	select {
	case <-ended:
		out.late = ctx.Err() == context.DeadlineExceeded
	case <-time.After(limit(healthy) + grace):
		k.t.Fatalf("%s: does not end although it was interrupted; fault in request %d of %s", s.name, in.nth, in.key)
	}
	out.took = time.Since(began).Round(time.Millisecond)
	k.mu.Lock()
	out.requests, out.met = k.requests, k.met
	k.injection = injection{}
	k.mu.Unlock()
	if s.json {
		out.said, out.unreadable = k.parseOutput(out.stdout)
	}
	if s.archive {
		raw, _ := os.ReadFile(file)
		out.archived = string(raw)
	}
	out.after = k.read()
	if s.then && len(differences(k.made.words(), out.after.words())) > 0 {
		k.runLater()
		out.later = k.read()
	}
	if s.again {
		out.failed = runAgain(healthy, plain)
		out.again = k.read()
	}
	return out
}

// runAgain runs a command that is as it should be, and returns what it says if that fails.
func runAgain(healthy *outcome, args []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), limit(healthy))
	defer cancel()
	code, _, stderr := script.InProcess(ctx, "", args...)
	if code == 0 {
		return ""
	}
	return fmt.Sprintf("exit code %d: %s", code, stderr)
}

// removeFiles removes what the last command has written.
func (k *runner) removeFiles() {
	k.t.Helper()
	files, err := filepath.Glob(filepath.Join(k.files, "*"))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			k.t.Fatal(err)
		}
	}
}

// interrupt ends a command that would go on for ever when it has done what is wanted.
func (k *runner) interrupt(ctx context.Context, cancel func(), want map[string]string) {
	for ctx.Err() == nil {
		if len(differences(want, k.read().words())) == 0 {
			cancel()
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// runLater runs the collector's loop, with a server that is as it should be.
func (k *runner) runLater() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit(nil))
	defer cancel()
	code, stdout, stderr := script.InProcess(ctx, "", "run", "-n", k.namespace, "-y", "--allow-mass-collection",
		"--kubeconfig", k.cluster.Kubeconfig())
	if code != 0 {
		k.t.Errorf("the run afterwards: exit code %d: %s%s", code, stdout, stderr)
	}
}
