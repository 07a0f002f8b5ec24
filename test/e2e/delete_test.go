package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// deletion is a kubectl gc delete that has ended.
type deletion struct {
	stdout, stderr string
	code           int
}

func del(t *testing.T, kubeconfig, stdin string, args ...string) deletion {
	t.Helper()
	code, stdout, stderr := script.InProcess(t.Context(), stdin,
		append([]string{"delete", "--kubeconfig", kubeconfig}, args...)...)
	return deletion{stdout, stderr, code}
}

func (d deletion) want(t *testing.T, code int, stderr ...string) {
	t.Helper()
	for _, text := range stderr {
		if !strings.Contains(d.stderr, text) {
			t.Errorf("stderr lacks %q", text)
		}
	}
	if d.code != code || t.Failed() {
		t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", d.code, code, d.stdout, d.stderr)
	}
}

func configMap(name, metadata string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s%s}\n", name, metadata)
}

// uidOf returns a config map's uid.
func ownedBy(name, uid, more string) string {
	return fmt.Sprintf(", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s%s}]", name, uid, more)
}

// TestAChangedRootIsPlannedAgain: between the plan and the delete a root is changed. What does not
// make the plan grow goes on, what does is refused without somebody to ask, with what has been
// added, and asked about with -i.
func TestAChangedRootIsPlannedAgain(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		change func(ns string) // of the object one
		stdin  string
		args   []string
		code   int
		stderr []string
		gone   bool
	}{
		"a new owner": {
			change: func(ns string) {
				c.Apply(t, configMap("owner", ""), "-n", ns)
				patch(t, c, ns, "one", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+uidOf(t, c, ns, "owner")+`"}]}}`)
			},
			args: []string{"--yes"}, gone: true, stderr: []string{"the new plan deletes nothing more"},
		},
		"a new finalizer": {
			change: func(ns string) { patch(t, c, ns, "one", `{"metadata":{"finalizers":["example.com/new"]}}`) },
			args:   []string{"--yes"}, code: 2,
			stderr: []string{`configmap "one"`, "because the new plan does more", "ConfigMap/one has finalizer example.com/new",
				"hint: "},
		},
		"a new finalizer and a yes": {
			change: func(ns string) { patch(t, c, ns, "one", `{"metadata":{"finalizers":["example.com/new"]}}`) },
			args:   []string{"-i", "--wait=false"}, stdin: "y\ny\n", gone: true, stderr: []string{"the new plan does more"},
		},
		"a new finalizer and a no": {
			change: func(ns string) { patch(t, c, ns, "one", `{"metadata":{"finalizers":["example.com/new"]}}`) },
			args:   []string{"-i"}, stdin: "y\nn\n", code: 2, stderr: []string{"the new plan was declined"},
		},
		"a new dependent besides": {
			change: func(ns string) {
				c.Apply(t, configMap("dependent", ownedBy("one", uidOf(t, c, ns, "one"), "")), "-n", ns)
				patch(t, c, ns, "one", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"66666666-6666-6666-6666-666666666666"}]}}`)
			},
			args: []string{"--yes"}, code: 2, stderr: []string{"deletes ConfigMap/dependent"},
		},
		"a new dependent beyond what is allowed": {
			change: func(ns string) {
				c.Apply(t, configMap("dependent", ownedBy("one", uidOf(t, c, ns, "one"), "")), "-n", ns)
				patch(t, c, ns, "one", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"66666666-6666-6666-6666-666666666666"}]}}`)
			},
			args: []string{"-i", "--max-deletes=2"}, stdin: "y\ny\n", code: 2,
			stderr: []string{"not deleted: the plan deletes 3 objects, and --max-deletes allows 2"},
		},
		"another in its place": {
			change: func(ns string) {
				c.Kubectl(t, "delete", "configmap", "one", "-n", ns)
				c.Apply(t, configMap("one", ""), "-n", ns)
			},
			args: []string{"--yes"}, stderr: []string{"another object has its name now"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ns := c.Namespace(t)
			c.Apply(t, configMap("one", "")+configMap("two", ""), "-n", ns)
			proxy := faultproxy.Start(t, c.Config())
			var deletes atomic.Int32
			proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete },
				func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if strings.HasSuffix(r.URL.Path, "/one") && deletes.Add(1) == 1 {
						test.change(ns)
					}
					next.ServeHTTP(w, r)
				})
			d := del(t, proxy.Kubeconfig(t), test.stdin, append(test.args, "configmap", "one", "two", "-n", ns)...)
			d.want(t, test.code, test.stderr...)
			deleted := c.Kubectl(t, "get", "configmap", "one", "-n", ns, "--ignore-not-found", "-o",
				"jsonpath={.metadata.name}/{.metadata.deletionTimestamp}")
			if gone := deleted == "" || !strings.HasSuffix(deleted, "/"); gone != test.gone {
				t.Errorf("one is %q; want it deleted: %t", deleted, test.gone)
			}
			if two := c.Kubectl(t, "get", "configmap", "two", "-n", ns, "--ignore-not-found", "-o", "name"); two != "" {
				t.Errorf("%s was not changed and is there", two)
			}
		})
	}
}

// TestWhatWasAgreedToCountsInLaterPlans: what one of two owners has grown by, and is deleted, counts
// when the other one grows.
func TestWhatWasAgreedToCountsInLaterPlans(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("one", "")+configMap("two", ""), "-n", ns)
	absent := `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"66666666-6666-6666-6666-66666666666%d"}]}}`
	proxy := faultproxy.Start(t, c.Config())
	var sent atomic.Int32
	var first sync.Once
	proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		first.Do(func() {
			c.Apply(t, configMap("of-one", ownedBy("one", uidOf(t, c, ns, "one"), "")), "-n", ns)
			patch(t, c, ns, "one", fmt.Sprintf(absent, 1))
			patch(t, c, ns, "two", fmt.Sprintf(absent, 1))
		})
		if strings.HasSuffix(r.URL.Path, "/two") && sent.Add(1) == 2 {
			c.Apply(t, configMap("of-two", ownedBy("two", uidOf(t, c, ns, "two"), "")), "-n", ns)
			patch(t, c, ns, "two", fmt.Sprintf(absent, 2))
		}
		next.ServeHTTP(w, r)
	})
	d := del(t, proxy.Kubeconfig(t), "y\ny\ny\n", "-i", "--wait=false", "--max-deletes=3", "configmap", "one", "two", "-n", ns)
	d.want(t, 2, "not deleted: the plan deletes 4 objects, and --max-deletes allows 3")
	c.Kubectl(t, "get", "configmap", "two", "-n", ns)
}

// TestAnApprovedPlanIsNotExceeded: the digest is that of the plan that was printed before. What
// changes between the plan and the delete is performed only if it does nothing more.
func TestAnApprovedPlanIsNotExceeded(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		change string // of the object, before its delete is answered
		code   int
		stderr string
	}{
		"the same": {},
		"a finalizer": {`{"metadata":{"finalizers":["example.com/new"]}}`, 2,
			"because the new plan does more: ConfigMap/one has finalizer example.com/new"},
		"an absent owner": {`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"66666666-6666-6666-6666-666666666666"}]}}`, 0, "the new plan deletes nothing more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, configMap("one", ""), "-n", ns)
			printed := del(t, c.Kubeconfig(), "", "configmap", "one", "-n", ns, "--dry-run=client")
			printed.want(t, 0)
			_, digest, _ := strings.Cut(printed.stdout, "\ndigest: ")
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(deletes, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if test.change != "" {
					patch(t, c, ns, "one", test.change)
				}
				next.ServeHTTP(w, r)
			}))
			d := del(t, proxy.Kubeconfig(t), "", "configmap", "one", "-n", ns, "--confirm="+strings.TrimSpace(digest))
			d.want(t, test.code, test.stderr)
			if there := uidOf(t, c, ns, "one") != ""; there != (test.code != 0) {
				t.Errorf("it is there: %t", there)
			}
		})
	}
}

func patch(t *testing.T, c *testcluster.Cluster, ns, name, body string) {
	t.Helper()
	c.Kubectl(t, "patch", "configmap", name, "-n", ns, "--type=merge", "-p", body)
}

// TestWithTheCollector are those that need it and a deployment's controllers.
func TestWithTheCollector(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.Controllers(testcluster.Collector, "deployment-controller",
		"replicaset-controller"))
	t.Run("OrphansOfADeployment_RO021", func(t *testing.T) { t.Parallel(); orphansOfADeployment(t, c) })
	t.Run("AdoptedByTheLaggard_RO021", func(t *testing.T) { t.Parallel(); adoptedByTheLaggard(t, c) })
	t.Run("AdoptedByAnother_RO021", func(t *testing.T) { t.Parallel(); adoptedByAnother(t, c) })
	t.Run("StrictForeground_GC061", func(t *testing.T) { t.Parallel(); strict(t, c) })
	t.Run("GracePeriod_GC056", func(t *testing.T) { t.Parallel(); gracePeriod(t, c) })
	t.Run("GracePeriodThatIsShorter_GC056", func(t *testing.T) { t.Parallel(); shorterGracePeriod(t, c) })
}

func (d deletion) result(t *testing.T) v1alpha1.Result {
	t.Helper()
	var r v1alpha1.Result
	if err := json.Unmarshal([]byte(d.stdout), &r); err != nil {
		t.Fatalf("%v in %s, stderr: %s", err, d.stdout, d.stderr)
	}
	return r
}

func orphansOfADeployment(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, deployment, "-n", ns)
	testcluster.Eventually(t, "the deployment's pod", func(context.Context) (bool, error) {
		return c.Kubectl(t, "get", "pods", "-n", ns, "-o", "name") != "", nil
	})
	d := del(t, c.Kubeconfig(), "", "deployment/web", "-n", ns, "--cascade=orphan", "--yes", "-o", "json")
	d.want(t, 0)
	r := d.result(t)
	if len(r.Orphaned) != 1 || r.Orphaned[0].Object.Kind != "ReplicaSet" ||
		r.Orphaned[0].Because != "alive, without a reference to Deployment/web" {
		t.Errorf("orphaned: %+v", r.Orphaned)
	}
}

// adopting waits until a config map has lost its references and gives it one.
func adopting(t *testing.T, c *testcluster.Cluster, ns, name, reference string, then func()) {
	go func() {
		testcluster.Eventually(t, name+" without references", func(context.Context) (bool, error) {
			return c.Kubectl(t, "get", "configmap", name, "-n", ns, "-o", "jsonpath={.metadata.ownerReferences}") == "", nil
		})
		patch(t, c, ns, name, `{"metadata":{"ownerReferences":[`+reference+`]}}`)
		then()
	}()
}

// adoptedByTheLaggard: a controller that has not noticed the deletion adopts again what the
// collector has just orphaned, while another finalizer still holds the owner. When the owner goes,
// the collector takes the dependent for one of its own.
func adoptedByTheLaggard(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, configMap("owner", ", finalizers: [example.com/x]"), "-n", ns)
	uid := uidOf(t, c, ns, "owner")
	c.Apply(t, configMap("dependent", ownedBy("owner", uid, ", controller: true")), "-n", ns)
	adopting(t, c, ns, "dependent",
		`{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+uid+`","controller":true}`, func() {
			patch(t, c, ns, "owner", `{"metadata":{"finalizers":null}}`)
		})
	d := del(t, c.Kubeconfig(), "", "configmap/owner", "-n", ns, "--cascade=orphan", "--yes")
	d.want(t, 1, `configmaps "dependent"`)
	if !strings.Contains(d.stderr, "refers to ConfigMap") && !strings.Contains(d.stderr, "was to be orphaned and is") {
		t.Errorf("stderr: %s", d.stderr)
	}
}

// adoptedByAnother: a matching selector of another owner is legitimate, and said.
func adoptedByAnother(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	c.Apply(t, configMap("owner", ", finalizers: [example.com/x]")+configMap("another", ""), "-n", ns)
	c.Apply(t, configMap("dependent", ownedBy("owner", uidOf(t, c, ns, "owner"), ", controller: true")), "-n", ns)
	adopting(t, c, ns, "dependent",
		`{"apiVersion":"v1","kind":"ConfigMap","name":"another","uid":"`+uidOf(t, c, ns, "another")+`","controller":true}`,
		func() {
			patch(t, c, ns, "owner", `{"metadata":{"finalizers":null}}`)
		})
	d := del(t, c.Kubeconfig(), "", "configmap/owner", "-n", ns, "--cascade=orphan", "--yes", "-o", "json")
	d.want(t, 0, `Warning: configmap "dependent"`, "adopted by ConfigMap/another")
	if r := d.result(t); len(r.Orphaned) != 1 || r.Orphaned[0].Because != "adopted by ConfigMap/another" {
		t.Errorf("orphaned: %+v", r.Orphaned)
	}
}

// pods makes some on a node, where no kubelet ever ends them, owned by a config map.
func pods(t *testing.T, c *testcluster.Cluster, ns string, seconds, n int) {
	t.Helper()
	c.Apply(t, configMap("owner", ""), "-n", ns)
	uid := uidOf(t, c, ns, "owner")
	for i := range n {
		c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: pod-%d%s}
spec: {nodeName: nowhere, terminationGracePeriodSeconds: %d, containers: [{name: c, image: c}]}
`, i, ownedBy("owner", uid, ""), seconds), "-n", ns)
	}
}

// gracePeriod: without the flag the pods keep their own grace period, and nobody ends it; with it
// they go at once.
func gracePeriod(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	pods(t, c, ns, 3600, 3)
	d := del(t, c.Kubeconfig(), "", "configmap/owner", "-n", ns, "--grace-period=0", "--force", "--yes", "--timeout=5s")
	d.want(t, 2, "timed out", "of its grace period left")
	if left := c.Kubectl(t, "get", "pods", "-n", ns, "-o", "name"); strings.Count(left, "pod/") != 3 {
		t.Fatalf("left without the flag: %q, want all pods", left)
	}
	ns = c.Namespace(t)
	pods(t, c, ns, 3600, 3)
	d = del(t, c.Kubeconfig(), "", "configmap/owner", "-n", ns, "--grace-period=0", "--force", "--propagate-grace-period",
		"--yes", "-o", "json")
	d.want(t, 0)
	given := 0
	for _, a := range d.result(t).Done {
		if a.Reason == "GracePeriod" && a.Object.Kind == "Pod" && a.By == "client" {
			given++
		}
	}
	if left := c.Kubectl(t, "get", "pods", "-n", ns, "-o", "name"); left != "" || given != 3 {
		t.Errorf("left %q, and %d of 3 deletes in %s", left, given, d.stdout)
	}
}

// shorterGracePeriod: what the collector has deleted with the pods' own cannot be lengthened, which
// is said once.
func shorterGracePeriod(t *testing.T, c *testcluster.Cluster) {
	ns := c.Namespace(t)
	pods(t, c, ns, 600, 2)
	d := del(t, c.Kubeconfig(), "", "configmap/owner", "-n", ns, "--grace-period=3600", "--propagate-grace-period",
		"--yes", "--timeout=5s")
	d.want(t, 2, "its own grace period of 600s", "--gc=client")
	if n := strings.Count(d.stderr, "cannot be lengthened"); n != 1 {
		t.Errorf("said %d times:\n%s", n, d.stderr)
	}
}

// strict: a dependent that does not block and that a finalizer holds. Without the flag the owner
// does not wait for it.
func strict(t *testing.T, c *testcluster.Cluster) {
	for flag, ended := range map[string]string{"--strict": "ConfigMap/owner (waits for 1 blocking dependent)",
		"--strict=false": "timed out"} {
		ns := c.Namespace(t)
		c.Apply(t, configMap("owner", ""), "-n", ns)
		c.Apply(t, configMap("held", ", finalizers: [example.com/hold]"+ownedBy("owner", uidOf(t, c, ns, "owner"), "")),
			"-n", ns)
		d := del(t, c.Kubeconfig(), "", "configmap/owner", "-n", ns, "--cascade=foreground", flag, "--yes", "--timeout=5s")
		d.want(t, 2, ended)
		there := c.Kubectl(t, "get", "configmap", "owner", "-n", ns, "-o", "name", "--ignore-not-found") != ""
		if there != (flag == "--strict") {
			t.Errorf("%s: the owner is there: %t", flag, there)
		}
		patch(t, c, ns, "held", `{"metadata":{"finalizers":null}}`)
	}
}
