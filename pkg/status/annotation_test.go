package status_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// TestAnnotated: an annotation says of a failure what its key says that it has, or what a handler
// of kopf keeps; settings that are called after errors say nothing.
func TestAnnotated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ key, value, want string }{
		{"actions-runner/unregistration-failure-message", "Runner x is still running a job", "Runner x is still running a job"},
		{"example.com/last-error", "cannot reach the server", "cannot reach the server"},
		{"example.com/deletion.reason", "access denied by policy", "access denied by policy"},
		{"kopf.zalando.org/delete_fn", `{"started":"2026-01-02T03:04:05","retries":3,"success":false,"failure":false,"message":"no answer from db"}`,
			"no answer from db"},
		{"kopf.zalando.org/create_fn", `{"success":true,"message":"made"}`, ""},
		{"kubectl.kubernetes.io/last-applied-configuration", `{"kind":"Pod","message":"an error"}`, ""},
		{"example.com/reason", "asked for by the owner", ""},
		{"example.com/error", "none", ""},
		{"example.com/last-error", "none since 10:00", ""},
		{"example.com/last-error", "no error was seen", ""},
		{"io.openshift.build.commit.message", "Fix the test that failed", ""},
		{"nginx.ingress.kubernetes.io/custom-http-errors", "404 503", ""},
		{"nginx.ingress.kubernetes.io/proxy-next-upstream", "error timeout", ""},
		{"helm.sh/hook-delete-policy", "hook-failed, hook-succeeded", ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetAnnotations(map[string]string{test.key: test.value})
		var want []status.Said
		if test.want != "" {
			want = []status.Said{{Field: "annotation " + test.key, Text: test.want}}
		}
		if got := status.Annotated(o); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", test.key, got, want)
		}
	}
}
