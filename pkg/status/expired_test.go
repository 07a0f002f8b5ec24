package status_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

func TestExpired(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct{ key, value, want string }{
		{"deleteAfterDate", "2025-02-20", "spec.deleteAfterDate"},
		{"expiresAt", "2026-01-01T00:00:00Z", "spec.expiresAt"},
		{"validUntil", "2026-01-02T03:04:04Z", "spec.validUntil"},
		{"validUntil", "2026-01-01", "spec.validUntil"},
		{"validTo", "2026-01-02", ""},                       // today
		{"expirationTimestamp", "2027-01-01T00:00:00Z", ""}, // to come
		{"deleteAfter", "72h", ""},                          // no time
		{"startDate", "2025-02-20", ""},
		{"expirePasswordDate", "2025-02-20", ""}, // of something else
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{test.key: test.value}}}
		if got := status.Expired(o, now); got.Field != test.want {
			t.Errorf("%s %s: %q, want %q", test.key, test.value, got.Field, test.want)
		}
	}
}
