package storage

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestPodsThatGoAfterTheirClaim: one that only the claim owns, and that nobody deletes, unless the
// collector deletes or orphans what the claim owns before.
func TestPodsThatGoAfterTheirClaim(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		owners     []string
		deleting   bool
		finalizers string
		want       string
	}{
		"its own":       {[]string{"claim"}, false, "kubernetes.io/pvc-protection", "Pod p"},
		"of another":    {[]string{"set"}, false, "", ""},
		"of two":        {[]string{"claim", "set"}, false, "", ""},
		"being deleted": {[]string{"claim"}, true, "", ""},
		"foreground":    {[]string{"claim"}, false, "kubernetes.io/pvc-protection " + metav1.FinalizerDeleteDependents, ""},
		"orphaned":      {[]string{"claim"}, false, metav1.FinalizerOrphanDependents, ""},
	} {
		pod := &unstructured.Unstructured{Object: map[string]any{"kind": "Pod"}}
		pod.SetName("p")
		var owners []metav1.OwnerReference
		for _, uid := range test.owners {
			owners = append(owners, metav1.OwnerReference{UID: types.UID(uid)})
		}
		if pod.SetOwnerReferences(owners); test.deleting {
			now := metav1.Now()
			pod.SetDeletionTimestamp(&now)
		}
		got := deletedAfter("claim", strings.Fields(test.finalizers), []*unstructured.Unstructured{pod})
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
