package cluster

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestForbiddenDiscoverySaysWhatToAskFor: a 403 of /api or /apis names the requests and the
// ClusterRole that allows them, and remains the server's answer.
func TestForbiddenDiscoverySaysWhatToAskFor(t *testing.T) {
	t.Parallel()
	status := faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden,
		`forbidden: User "carl" cannot get path "/api"`)
	for name, tt := range map[string]struct {
		paths []string
		fault faultproxy.Fault
		says  string
	}{
		"/api and /apis": {[]string{"/api", "/apis"}, status, "GET /api or GET /apis is forbidden"},
		"/api":           {[]string{"/api"}, status, "GET /api or GET /apis is forbidden"},
		"/apis":          {[]string{"/apis"}, status, "GET /api or GET /apis is forbidden"},
		"by a proxy": {[]string{"/api"}, faultproxy.Plain(http.StatusForbidden, "not from your address"),
			"GET /api or GET /apis is forbidden: not from your address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := faultproxy.Start(t, testcluster.Shared(t).Config())
			for _, path := range tt.paths {
				proxy.On(func(r *http.Request) bool { return r.URL.Path == path }, tt.fault)
			}
			client, err := New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Discover(t.Context())
			if err == nil || err.Error() != "asking the server which types it serves: "+tt.says {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if hint := answer.Hint(err); !strings.Contains(hint, "ClusterRole system:discovery") {
				t.Errorf("the hint %q does not say what to ask for", hint)
			}
			var answered apierrors.APIStatus
			if !apierrors.IsForbidden(err) || !errors.As(err, &answered) || answered.Status().Code != http.StatusForbidden {
				t.Errorf("%v hides the server's answer", err)
			}
		})
	}
}
