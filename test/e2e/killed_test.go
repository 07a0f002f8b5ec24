package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// estate is a namespace with an owner, a dependent of it, a dependent of that, and one that has
// another owner too.
type estate struct {
	*testcluster.Cluster
	namespace, file string
}

func newEstate(t *testing.T) estate {
	t.Helper()
	c := testcluster.Shared(t)
	e := estate{c, c.Namespace(t), filepath.Join(t.TempDir(), "estate.yaml")}
	e.make(t, "owner", "finalizers: [example.com/hold]")
	e.make(t, "other", "")
	e.make(t, "child", "ownerReferences: ["+e.owner(t, "owner")+"]")
	e.make(t, "grandchild", "ownerReferences: ["+e.owner(t, "child")+"]")
	e.make(t, "shared", "ownerReferences: ["+e.owner(t, "other")+", "+e.owner(t, "owner")+"]")
	t.Cleanup(func() {
		c.Kubectl(t, "patch", "configmap", "owner", "-n", e.namespace, "--type=merge", "-p",
			`{"metadata":{"finalizers":null}}`)
	})
	return e
}

func (e estate) make(t *testing.T, name, metadata string) {
	t.Helper()
	e.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\n  %s\n", name,
		e.namespace, metadata))
}

func (e estate) owner(t *testing.T, name string) string {
	t.Helper()
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s}", name,
		uidOf(t, e.Cluster, e.namespace, name))
}

// whole fails the test unless all is there again, and each reference has the uid of its owner.
func (e estate) whole(t *testing.T) {
	t.Helper()
	for name, owners := range map[string][]string{"owner": nil, "child": {"owner"}, "grandchild": {"child"},
		"shared": {"other", "owner"}} {
		var want []string
		for _, owner := range owners {
			want = append(want, uidOf(t, e.Cluster, e.namespace, owner))
		}
		got := e.Kubectl(t, "get", "configmap", name, "-n", e.namespace, "--ignore-not-found", "-o",
			"jsonpath={.metadata.name}{.metadata.deletionTimestamp} {.metadata.ownerReferences[*].uid}")
		if got != name+" "+strings.Join(want, " ") {
			t.Errorf("%s is %q, want the owners %q", name, got, want)
		}
	}
}

// kill starts a command and kills it at its n-th write: before the server has it, or, with done,
// when the server has done it and has not answered.
func (e estate) kill(t *testing.T, n int64, done bool, args ...string) {
	t.Helper()
	proxy := faultproxy.Start(t, e.Config())
	held := make(chan struct{})
	var writes atomic.Int64
	isWrite := func(r *http.Request) bool {
		return r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "accessreviews") && !r.URL.Query().Has("dryRun")
	}
	proxy.On(isWrite, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch now := writes.Add(1); {
		case now < n:
			next.ServeHTTP(w, r)
			return
		case now == n && done:
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		if writes.Load() >= n {
			select {
			case held <- struct{}{}:
			case <-r.Context().Done():
			}
		}
		faultproxy.Hang()(w, r, next)
	})
	p := start(t, append(args, "--kubeconfig", proxy.Kubeconfig(t))...)
	select {
	case <-held:
	case <-p.ended:
		t.Fatalf("%q has ended before its write %d; stdout: %s\nstderr: %s", args, n, &p.stdout, &p.stderr)
	case <-time.After(time.Minute):
		t.Fatalf("%q has not come to its write %d; stdout: %s\nstderr: %s", args, n, &p.stdout, &p.stderr)
	}
	p.signal(syscall.SIGKILL)
	if code := p.code(); code != -1 {
		t.Errorf("exit code %d, stderr: %s", code, &p.stderr)
	}
}

// goesOn runs the command again, which has to do the rest, and once more, which has to do nothing.
func (e estate) goesOn(t *testing.T, args ...string) {
	t.Helper()
	args = append(args, "--kubeconfig", e.Kubeconfig())
	if r := run(t, args...); r.code != 0 {
		t.Fatalf("again: exit code %d, stdout: %s\nstderr: %s", r.code, r.stdout, r.stderr)
	}
	e.whole(t)
	before := e.versions(t)
	if r := run(t, args...); r.code != 0 || e.versions(t) != before {
		t.Errorf("once more: exit code %d, stdout: %s\nstderr: %s\nbefore: %s\nafter: %s", r.code, r.stdout, r.stderr, before,
			e.versions(t))
	}
}

// versions are the resourceVersions of all ConfigMaps.
func (e estate) versions(t *testing.T) string {
	t.Helper()
	return e.Kubectl(t, "get", "configmaps", "-n", e.namespace, "-o", "jsonpath={.items[*].metadata.resourceVersion}")
}

// TestKilledAtEachWriteOfARestore_TheSameEnd: the process is killed, and the same command goes on.
func TestKilledAtEachWriteOfARestore_TheSameEnd(t *testing.T) {
	t.Parallel()
	const writes = 4 // three objects, one reference
	atEach(t, writes, func(t *testing.T, n int64, done bool) {
		e := newEstate(t)
		if r := run(t, "archive", "configmap/owner", "--to", e.file, "-n", e.namespace, "--kubeconfig",
			e.Kubeconfig()); r.code != 0 {
			t.Fatalf("archive: exit code %d: %s", r.code, r.stderr)
		}
		e.Kubectl(t, "patch", "configmap", "owner", "-n", e.namespace, "--type=merge", "-p",
			`{"metadata":{"finalizers":null}}`)
		e.Kubectl(t, "delete", "configmap", "owner", "child", "grandchild", "-n", e.namespace, "--ignore-not-found")
		args := []string{"restore", "-f", e.file, "--yes"}
		e.kill(t, n, done, args...)
		e.goesOn(t, args...)
	})
}

// TestKilledAtEachWriteOfARescue_TheSameEnd: as the restore, with the finalizer.
func TestKilledAtEachWriteOfARescue_TheSameEnd(t *testing.T) {
	t.Parallel()
	const writes = 6 // two references, the finalizer, the object, two references
	atEach(t, writes, func(t *testing.T, n int64, done bool) {
		e := newEstate(t)
		e.Kubectl(t, "delete", "configmap", "owner", "-n", e.namespace, "--wait=false")
		args := []string{"rescue", "configmap/owner", "-n", e.namespace, "--archive", e.file, "--force", "--yes"}
		e.kill(t, n, done, args...)
		e.goesOn(t, args...)
	})
}

// atEach tests what happens at each of some writes: before the server has it, and after.
func atEach(t *testing.T, writes int64, test func(t *testing.T, n int64, done bool)) {
	t.Helper()
	for n := int64(1); n <= writes; n++ {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, done %t", n, done), func(t *testing.T) {
				t.Parallel()
				test(t, n, done)
			})
		}
	}
}
