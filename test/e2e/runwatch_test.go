package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// running is a run that goes on.
type running struct {
	t           *testing.T
	out, errOut script.Buffer
	code        chan int
	interrupt   context.CancelFunc
}

func startRun(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{t: t, code: make(chan int, 1)}
	var ctx context.Context
	ctx, r.interrupt = context.WithCancel(t.Context())
	t.Cleanup(r.interrupt)
	go func() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &r.out, ErrOut: &r.errOut}
		r.code <- cmd.Main(ctx, streams, append([]string{"kubectl-gc", "run", "--yes"}, args...))
	}()
	return r
}

// prints waits until the run has printed a text, and shows what it has printed if it has not.
func (r *running) prints(b *script.Buffer, text string) {
	r.t.Helper()
	defer func() {
		if r.t.Failed() {
			r.t.Logf("it has printed\n%s\nand\n%s", r.out.String(), r.errOut.String())
		}
	}()
	testcluster.Eventually(r.t, "it says "+text,
		func(context.Context) (bool, error) { return strings.Contains(b.String(), text), nil })
}

// ends waits for the exit code.
func (r *running) ends(want int) {
	r.t.Helper()
	if got := <-r.code; got != want {
		r.t.Errorf("exit code %d, want %d:\n%s", got, want, r.errOut.String())
	}
}

// TestRunWatchGoesOnAfterABadGateway: discovery is answered with 502 a few times; that is said
// once, and what came up meanwhile is collected.
func TestRunWatchGoesOnAfterABadGateway(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	var left atomic.Int32
	proxy.On(func(r *http.Request) bool { return r.URL.Path == "/api" && left.Add(-1) >= 0 },
		faultproxy.Plain(http.StatusBadGateway, "<html>bad \x1b[31mgateway</html>\n"))
	// A pass after a write of the first run asks discovery in any case, one after an event does not.
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete && path.Base(r.URL.Path) == "first" },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			left.Store(2)
			next.ServeHTTP(w, r)
		})
	c.Apply(t, dangling("first"), "-n", ns)
	r := startRun(t, "-n", ns, "--watch", "--kubeconfig", proxy.Kubeconfig(t))
	r.prints(&r.out, `configmap "first" deleted`)
	c.Apply(t, dangling("second"), "-n", ns)
	r.prints(&r.errOut, "Warning: nothing is collected until the server answers again: ")
	r.prints(&r.out, `configmap "second" deleted`)
	r.prints(&r.errOut, "collecting again")
	r.interrupt()
	r.ends(0)
	if got := r.errOut.String(); strings.Count(got, "Warning: ") != 1 || strings.Contains(got, "\x1b") {
		t.Errorf("stderr: %q", got)
	}
}

// TestRunDoesNotSayThatNothingWasCollectedWhereAnAnswerIsLost: the server takes the delete, and the
// connection ends before it answers.
func TestRunDoesNotSayThatNothingWasCollectedWhereAnAnswerIsLost(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete && path.Base(r.URL.Path) == "first" },
		func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		})
	c.Apply(t, dangling("first"), "-n", ns)
	r := startRun(t, "-n", ns, "--watch", "--kubeconfig", proxy.Kubeconfig(t))
	r.prints(&r.errOut, `Warning: delete configmaps "first": `)
	testcluster.Eventually(t, "the object is gone", func(ctx context.Context) (bool, error) {
		out, err := c.Command(ctx, "get", "configmaps", "-n", ns, "-o", "name").Output()
		return err == nil && !strings.Contains(string(out), "first"), nil
	})
	r.interrupt()
	r.ends(0)
	if out := r.out.String(); !strings.Contains(out, "1 write got no answer, and may have taken effect") ||
		strings.Contains(out, "nothing was collected") {
		t.Errorf("it has printed\n%s", out)
	}
}

// TestRunWaitsWithoutTheRightToWatch: what others have to remove is listed, and the run goes on
// when they have.
func TestRunWaitsWithoutTheRightToWatch(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" },
		faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "cannot watch"))
	c.Apply(t, dangling("held")+`---
apiVersion: v1
kind: ConfigMap
metadata: {name: below}
`, "-n", ns)
	uid := c.Kubectl(t, "get", "configmap", "held", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Kubectl(t, "patch", "configmap", "held", "-n", ns, "--type=merge", "-p",
		`{"metadata":{"finalizers":["example.com/hold"]}}`)
	c.Kubectl(t, "patch", "configmap", "below", "-n", ns, "--type=merge", "-p",
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"held","uid":"`+uid+`"}]}}`)
	r := startRun(t, "-n", ns, "--wait", "--kubeconfig", proxy.Kubeconfig(t))
	r.prints(&r.out, `configmap "held" in `+ns+` namespace is being deleted`)
	c.Kubectl(t, "patch", "configmap", "held", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	r.ends(0)
	r.prints(&r.out, `configmap "below" deleted`)
	for _, request := range proxy.Requests() {
		if strings.HasSuffix(request.Path, "/secrets") && request.Path != "/api/v1/namespaces/"+ns+"/secrets" {
			t.Errorf("it asked for %s, which is wider than -n", request.Path)
		}
	}
}

// TestRunEndsWhereNothingCanBeWaitedFor: what is to be waited for can neither be watched nor listed
// any more. That is said, and the run ends.
func TestRunEndsWhereNothingCanBeWaitedFor(t *testing.T) {
	// It takes a minute: so long does the run look for an answer before it gives up.
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	var refused atomic.Bool
	proxy.On(func(r *http.Request) bool { return refused.Load() && r.Method == http.MethodGet },
		faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "cannot see"))
	proxy.On(func(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			refused.Store(true) // all passes have been made
			faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "cannot see")(w, r, next)
		})
	c.Apply(t, dangling("held"), "-n", ns)
	c.Kubectl(t, "patch", "configmap", "held", "-n", ns, "--type=merge", "-p",
		`{"metadata":{"finalizers":["example.com/hold"]}}`)
	r := startRun(t, "-n", ns, "--wait", "--kubeconfig", proxy.Kubeconfig(t))
	r.ends(1)
	// Its watches and its passes both give up after a while, and either may be the first.
	if out := r.errOut.String(); !strings.Contains(out, "can neither be watched nor listed: cannot see") &&
		!strings.Contains(out, "which types it serves: GET /api or GET /apis is forbidden") {
		t.Errorf("stderr:\n%s", out)
	}
}
