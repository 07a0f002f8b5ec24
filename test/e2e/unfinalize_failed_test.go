package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestUnfinalizeNamesTheActionThatFailed and not another one that was planned: the dry run of it
// was taken, and the write is refused. What is planned after it is not tried.
func TestUnfinalizeNamesTheActionThatFailed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, _ := makeStuck(t, c)
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: both, finalizers: [example.com/hold, example.com/stays]}}", "-n", ns)
	c.Kubectl(t, "delete", "configmap", "both", "-n", ns, "--wait=false", "--cascade=foreground")
	t.Cleanup(func() {
		c.Kubectl(t, "patch", "configmap", "both", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	})
	proxy := faultproxy.Start(t, c.Config())
	refuse := faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcd is full")
	proxy.On(func(r *http.Request) bool {
		return r.Method == http.MethodPatch && len(r.URL.Query()["dryRun"]) == 0
	}, refuse)
	for _, test := range []struct{ args, verb, object, finalizers string }{
		{"configmap/both --finalizer example.com/hold --finalizer foregroundDeletion", "removeFinalizer", "both",
			"example.com/hold"},
		{"configmap/orphaning --finalizer orphan", "orphan", "dependent", ""},
	} {
		args := append([]string{"unfinalize", "-n", ns, "--kubeconfig", proxy.Kubeconfig(t), "-o", "json", "--yes",
			"--force"}, strings.Fields(test.args)...)
		r := run(t, args...)
		var out v1alpha1.Result
		if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.code != 1 || len(out.Done) > 0 ||
			len(out.Failed) != 1 {
			t.Errorf("%s: %v, exit code %d\n%s%s", test.args, err, r.code, r.stdout, r.stderr)
			continue
		}
		failed := out.Failed[0].Action
		if failed.Verb != test.verb || failed.Object.Name != test.object ||
			!slices.Equal(failed.Finalizers, strings.Fields(test.finalizers)) {
			t.Errorf("%s: failed is %s %s %v, want %s %s %s\n%s", test.args, failed.Verb, failed.Object.Name, failed.Finalizers,
				test.verb, test.object, test.finalizers, r.stderr)
		}
	}
}
