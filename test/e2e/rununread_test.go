package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestRunIsNotCompleteWithoutAnAnswerAboutAnObject: an owner that cannot be read, an object that waits and cannot be read, and a delete that is answered
// by what is no API server. What rests on it is left as it is, and that is not "nothing to collect", complete and exit code 0.
func TestRunIsNotCompleteWithoutAnAnswerAboutAnObject(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	asked := func(method, name string) func(*http.Request) bool {
		return func(r *http.Request) bool {
			return r.Method == method && strings.HasSuffix(r.URL.Path, "/configmaps/"+name)
		}
	}
	for name, fault := range map[string]faultproxy.Fault{
		"403":           faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "you may not"),
		"404 of no API": faultproxy.Plain(http.StatusNotFound, "404 page not found\n"),
		"500":           faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "an internal error"),
		"no object":     faultproxy.Plain(http.StatusOK, "{}"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, configMap("orphaning", ""), "-n", ns)
			c.Apply(t, configMap("dependent", ownedBy("orphaning", uidOf(t, c, ns, "orphaning"), "")), "-n", ns)
			c.Kubectl(t, "delete", "configmap", "orphaning", "-n", ns, "--cascade=orphan", "--wait=false")
			for _, test := range []struct {
				method, object, dryRun string
				code                   int
			}{
				{http.MethodGet, "orphaning", "--dry-run=none", 2},
				{http.MethodGet, "nobody", "--dry-run=client", 0},
				{http.MethodGet, "nobody", "--dry-run=none", 2},
			} {
				checkUnread(t, c, ns, asked(test.method, test.object), fault, test.code, test.dryRun)
			}
			if name == "404 of no API" { // other refusals of a delete are failures
				checkUnread(t, c, ns, asked(http.MethodDelete, "lost"), fault, 2, "--dry-run=none")
			}
		})
	}
}

// TestDeleteAsTheCollectorTellsOfAReferenceThatIsStillThere: the patch that removes the reference to what was deleted from an object that lives on is answered
// by what is no API server. Everything that was to be deleted is, and that is not all.
func TestDeleteAsTheCollectorTellsOfAReferenceThatIsStillThere(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("root", "")+configMap("other", ""), "-n", ns)
	both := ", ownerReferences: ["
	for i, owner := range []string{"root", "other"} {
		if i > 0 {
			both += ", "
		}
		both += "{apiVersion: v1, kind: ConfigMap, name: " + owner + ", uid: " + uidOf(t, c, ns, owner) + "}"
	}
	c.Apply(t, configMap("shared", both+"]"), "-n", ns)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodPatch }, faultproxy.Plain(http.StatusNotFound, "404 page not found\n"))
	r := run(t, "delete", "-n", ns, "--kubeconfig", proxy.Kubeconfig(t), "-y", "-o", "json", "configmap/root", "--gc=client")
	var out v1alpha1.Result
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.code != 2 || out.Complete || len(out.Gaps) != 1 || !strings.Contains(out.Gaps[0].Message, `"shared"`) {
		t.Errorf("%v, exit code %d, complete %t, gaps %v\n%s", err, r.code, out.Complete, out.Gaps, r.stderr)
	}
}

func checkUnread(t *testing.T, c *testcluster.Cluster, ns string, asked func(*http.Request) bool, fault faultproxy.Fault, code int, dryRun string) {
	t.Helper()
	c.Apply(t, configMap("lost", ownedBy("nobody", "of-nobody", "")), "-n", ns) // which an earlier run may have collected
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(asked, fault)
	r := run(t, "run", "-n", ns, "--kubeconfig", proxy.Kubeconfig(t), "-y", "-o", "json", dryRun, "--allow-mass-collection")
	var out struct {
		Complete bool
		Gaps     []v1alpha1.Gap
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.code != code || out.Complete || len(out.Gaps) != 1 || out.Gaps[0].Resource != "configmaps" || out.Gaps[0].Namespace != ns {
		t.Errorf("%s: %v, exit code %d, want %d, complete %t, gaps %v\n%s", dryRun, err, r.code, code, out.Complete, out.Gaps, r.stderr)
	}
	if !strings.Contains(r.stderr, "Warning: not seen: configmaps: \"") {
		t.Errorf("%s: stderr %s", dryRun, r.stderr)
	}
}
