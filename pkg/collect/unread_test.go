package collect

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// unproven are answers with the code 404 that prove nothing of an object.
var unproven = map[string]faultproxy.Fault{
	"404 of a proxy": faultproxy.Plain(http.StatusNotFound, "404 page not found\n"),
	"404 of nothing": faultproxy.Status(http.StatusNotFound, metav1.StatusReasonNotFound,
		"the server could not find the requested resource"),
	"404 of something": faultproxy.Plain(http.StatusNotFound,
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"configmaps \"other\" not found","details":{"name":"other","kind":"configmaps"}}`),
}

func reads(names ...string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		for _, name := range names {
			if writesTo(http.MethodGet, name)(r) {
				return true
			}
		}
		return false
	}
}

// TestAnOwnerThatCannotBeReadIsTold keeps what depends on an owner of which no read gives an
// answer, says so before and after, and does the rest: such an owner hides nobody's dependents.
func TestAnOwnerThatCannotBeReadIsTold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		fault  faultproxy.Fault
		reason v1alpha1.GapReason
	}{
		{"404 of a proxy", unproven["404 of a proxy"], v1alpha1.GapFailed},
		{"404 of nothing", unproven["404 of nothing"], v1alpha1.GapFailed},
		{"404 of something", unproven["404 of something"], v1alpha1.GapFailed},
		{"403", hidden["403"], v1alpha1.GapForbidden},
		{"500", hidden["500"], v1alpha1.GapUnavailable},
		{"502", faultproxy.Plain(http.StatusBadGateway, "bad gateway"), v1alpha1.GapUnavailable},
		{"200 of nothing", faultproxy.Plain(http.StatusOK, ""), v1alpha1.GapFailed},
		{"200 without a uid", faultproxy.Plain(http.StatusOK,
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"nobody"}}`), v1alpha1.GapFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			s.make("a < nobody", "b < nobody", "c < somebody", "solid", "d < nobody solid", "o", "of-o < o", "f")
			s.delete(plan.Orphan, "o")
			s.delete(plan.Foreground, "f")
			proxy, client := proxied(t, c)
			proxy.On(reads("nobody"), tt.fault)
			opts := s.options()
			proposal, err := New(client, opts).Propose(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			wantUnread(t, proposal.Unread, tt.reason, `reading configmaps "nobody": `)
			result, _ := s.run(client, opts)
			s.check("a < nobody", "b < nobody", "d < nobody solid", "of-o", "solid")
			wantUnread(t, result.Unread, tt.reason, `reading configmaps "nobody": `)
			if len(result.Gaps) > 0 {
				t.Errorf("gaps %v", result.Gaps)
			}
		})
	}
}

func wantUnread(t *testing.T, unread []v1alpha1.Gap, reason v1alpha1.GapReason, message string) {
	t.Helper()
	if len(unread) != 1 || unread[0].Resource != "configmaps" || unread[0].Namespace == "" || unread[0].Reason != reason ||
		!strings.HasPrefix(unread[0].Message, message) {
		t.Errorf("unread is %+v, want one of reason %s with the message %s…", unread, reason, message)
	}
}

// TestAnObjectThatWaitsAndCannotBeReadIsTold cannot see whether an owner still waits for its
// dependents.
func TestAnObjectThatWaitsAndCannotBeReadIsTold(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("o", "a < o")
	s.delete(plan.Orphan, "o")
	proxy, client := proxied(t, c)
	proxy.On(reads("o"), hidden["500"])
	result, _ := s.run(client, s.options())
	s.check("-o | orphan", "a < o")
	wantUnread(t, result.Unread, v1alpha1.GapUnavailable, `reading configmaps "o": `)
}

// TestAReadThatFailsOnceIsToldNoMore is read again in the next pass.
func TestAReadThatFailsOnceIsToldNoMore(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody", "b < somebody")
	proxy, client := proxied(t, c)
	proxy.On(reads("nobody"), faultproxy.Times(1, hidden["500"]))
	opts := s.options()
	opts.Agree = AgreeToAll
	result, _ := s.run(client, opts)
	s.check()
	if len(result.Unread) > 0 {
		t.Errorf("unread is %v", result.Unread)
	}
}

// TestManyThatCannotBeReadAreToldTogether tells of three owners that may not be read in a line, and
// of none if their type may not be listed either.
func TestManyThatCannotBeReadAreToldTogether(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.secret("a", "n3")
	s.secret("b", "n1 n2")
	proxy, client := proxied(t, c)
	proxy.On(reads("n1", "n2", "n3"), hidden["403"])
	result, _ := s.run(client, s.options())
	wantUnread(t, result.Unread, v1alpha1.GapForbidden, `reading configmaps "n1" and 2 more: `)
	proxy.On(reads("configmaps"), hidden["403"])
	result, _ = s.run(client, s.options())
	if len(result.Gaps) == 0 || len(result.Unread) > 0 {
		t.Errorf("gaps %v, unread %v", result.Gaps, result.Unread)
	}
	if got := len(s.secrets()); got != 2 {
		t.Errorf("%d secrets are left of 2", got)
	}
}
