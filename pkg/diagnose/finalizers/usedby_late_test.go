package finalizers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// TestAClaimThatCameTooLate: it was made after its source was deleted. In the second of the deletion
// that is not known, and what does not end by itself is told otherwise.
func TestAClaimThatCameTooLate(t *testing.T) {
	t.Parallel()
	deleted := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for name, test := range map[string]struct {
		kind, until string
		after       time.Duration
		alive, want bool
	}{
		"after":              {"PersistentVolumeClaim", "it is bound", time.Minute, false, true},
		"before":             {"PersistentVolumeClaim", "it is bound", -time.Minute, false, false},
		"in the same second": {"PersistentVolumeClaim", "it is bound", 0, false, false},
		"until it goes":      {"PersistentVolumeClaim", "", time.Minute, false, false},
		"another kind":       {"Job", "it has ended", time.Minute, false, false},
		"not deleted":        {"PersistentVolumeClaim", "it is bound", time.Minute, true, false},
	} {
		source, user := &unstructured.Unstructured{Object: map[string]any{}}, &unstructured.Unstructured{Object: map[string]any{}}
		user.SetCreationTimestamp(metav1.NewTime(deleted.Add(test.after)))
		if !test.alive {
			source.SetDeletionTimestamp(&deleted)
		}
		u := actor.User{Object: user, Use: finalizer.Use{Kind: test.kind, Until: test.until}}
		if got := isLate(u, source); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
