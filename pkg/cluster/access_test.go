package cluster

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const reviewPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// through asks through a proxy and returns the answers and the number of reviews that it took.
func through(t *testing.T, c *testcluster.Cluster, user string, accesses []Access,
	faults ...faultproxy.Fault) ([]Review, int) {
	t.Helper()
	proxy := faultproxy.Start(t, c.Config())
	for _, fault := range faults {
		proxy.On(faultproxy.Path(reviewPath), fault)
	}
	config := proxy.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	client, err := New(config, 4)
	if err != nil {
		t.Fatal(err)
	}
	answers := client.Reviews().Ask(t.Context(), accesses)
	reviews := 0
	for _, r := range proxy.Requests() {
		if r.Method != http.MethodPost || r.Path != reviewPath {
			t.Errorf("%s %s; want reviews only", r.Method, r.Path)
		}
		reviews++
	}
	return answers, reviews
}

func deletions(namespace string, n int) []Access {
	var accesses []Access
	for i := range n {
		accesses = append(accesses, Access{Verb: "delete", Type: configMapType, Namespace: namespace,
			Name: fmt.Sprintf("cm-%d", i)})
	}
	return accesses
}

// TestReviewsAreBatched: one review for each verb, type and namespace, and one for each name only
// where that is denied.
func TestReviewsAreBatched(t *testing.T) {
	noLeaks(t)
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	user := "dora-" + ns
	c.Kubectl(t, "create", "role", "all", "-n", ns, "--verb=delete", "--resource=configmaps")
	c.Kubectl(t, "create", "role", "some", "-n", ns, "--verb=delete", "--resource=secrets", "--resource-name=s1",
		"--resource-name=s2")
	for _, role := range []string{"all", "some"} {
		c.Kubectl(t, "create", "rolebinding", role, "-n", ns, "--role="+role, "--user="+user)
	}
	secrets := graph.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	for _, what := range []string{"configmaps", "secrets/s1"} {
		testcluster.Eventually(t, user+" may delete "+what, mayDelete(c, user, ns, what))
	}

	answers, reviews := through(t, c, user, deletions(ns, 200))
	if reviews != 1 {
		t.Errorf("%d reviews for 200 config maps of a namespace, want 1", reviews)
	}
	for i, answer := range answers {
		if answer.Permission != Allowed {
			t.Fatalf("config map %d: %+v, want it allowed", i, answer)
		}
	}

	named := []Access{
		{Verb: "delete", Type: secrets, Namespace: ns, Name: "s1"},
		{Verb: "delete", Type: secrets, Namespace: ns, Name: "s2"},
		{Verb: "delete", Type: secrets, Namespace: ns, Name: "s3"},
		{Verb: "delete", Type: secrets, Namespace: ns, Name: "s3"},
		{Verb: "patch", Type: configMapType, Namespace: ns, Name: "cm-0"},
		{Verb: "delete", Type: configMapType, Namespace: ns + "-other", Name: "cm-0"},
	}
	answers, reviews = through(t, c, user, named)
	want := []Permission{Allowed, Allowed, Denied, Denied, Denied, Denied}
	for i, answer := range answers {
		if answer.Permission != want[i] {
			t.Errorf("%+v: %+v, want %d", named[i], answer, want[i])
		}
	}
	if reviews != 3+5 {
		t.Errorf("%d reviews, want 3 without a name and 5 with one", reviews)
	}
}

// TestReviewsRemember: what has been answered is not asked again.
func TestReviewsRemember(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	reviews := client.Reviews()
	for range 3 {
		for _, answer := range reviews.Ask(t.Context(), deletions("default", 5)) {
			if answer.Permission != Allowed {
				t.Errorf("the administrator: %+v", answer)
			}
		}
	}
	if n := len(proxy.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestFailedReviewIsNoDenial: servers that do not serve reviews, refuse them, fail at them or
// answer something else leave it unknown, and so does an authorizer that could not be asked.
func TestFailedReviewIsNoDenial(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, fault := range map[string]faultproxy.Fault{
		"403":   faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "no reviews for you"),
		"404":   faultproxy.Plain(http.StatusNotFound, "404 page not found"),
		"500":   faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "webhook authorizer"),
		"reset": faultproxy.Reset(),
		"other": faultproxy.Status(http.StatusOK, "", "fine"),
		"half": faultproxy.Edit(func(v any) any {
			v.(map[string]any)["status"] = map[string]any{"allowed": false, "evaluationError": "the webhook did not answer"}
			return v
		}),
	} {
		for _, answer := range first(through(t, c, "", deletions("default", 3), fault)) {
			if answer.Permission != Unknown {
				t.Errorf("%s: %+v, want it unknown", name, answer)
			}
		}
	}
}

func first(answers []Review, _ int) []Review { return answers }

// TestDenialHasTheAuthorizersReason where it gives one.
func TestDenialHasTheAuthorizersReason(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "rolebinding", "broken", "-n", ns, "--role=nowhere", "--user=emil")
	testcluster.Eventually(t, "emil's binding to be seen", func(context.Context) (bool, error) {
		answers, _ := through(t, c, "emil", deletions(ns, 1))
		return answers[0].Permission == Denied && strings.Contains(answers[0].Reason, "nowhere"), nil
	})
}

// mayDelete asks the server on its own account.
func mayDelete(c *testcluster.Cluster, user, namespace, what string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		return c.Command(ctx, "auth", "can-i", "delete", what, "--as", user, "-n", namespace).Run() == nil, nil
	}
}
