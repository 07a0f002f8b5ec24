package facts

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/real/record"
)

// gone reports whether all of some objects are.
func gone(h record.History, all ...types.UID) bool {
	for _, uid := range all {
		if h.When(uid, record.Gone) == 0 {
			return false
		}
	}
	return true
}

// began reports whether the deletion of all of some objects has begun.
func began(h record.History, all ...types.UID) bool {
	for _, uid := range all {
		if h.When(uid, record.Deleted) == 0 {
			return false
		}
	}
	return true
}

// inOrder tests that steps were taken one after the other; steps of one stage may come in any
// order.
func inOrder(t *testing.T, h record.History, stages ...stage) {
	t.Helper()
	for i, before := range stages[:len(stages)-1] {
		after := stages[i+1]
		if last, first := before.last(t, h), after.first(t, h); last >= first {
			t.Errorf("%s at %d, which should be before %s at %d", before, last, after, first)
		}
	}
}

// stage is that something happened to objects.
type stage struct {
	what string
	kind record.Kind
	uids []types.UID
}

func (s stage) String() string { return s.what + ": " + string(s.kind) }

// last gives when it happened to the last of them, and first when to the first.
func (s stage) last(t *testing.T, h record.History) uint64 {
	return s.bound(t, h, func(a, b uint64) uint64 { return max(a, b) })
}
func (s stage) first(t *testing.T, h record.History) uint64 {
	return s.bound(t, h, func(a, b uint64) uint64 { return min(a, b) })
}

func (s stage) bound(t *testing.T, h record.History, better func(a, b uint64) uint64) uint64 {
	t.Helper()
	var found uint64
	for i, uid := range s.uids {
		at := h.When(uid, s.kind)
		if at == 0 {
			t.Fatalf("%s: it did not happen to %s", s, uid)
		}
		if found = better(found, at); i == 0 {
			found = at
		}
	}
	return found
}
