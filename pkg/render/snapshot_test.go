package render

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

func TestASnapshotSaysWhatOfItIsWhole(t *testing.T) {
	for _, c := range []struct {
		snapshot v1alpha1.Snapshot
		want     string
	}{
		{v1alpha1.Snapshot{Objects: 2, WholeObjects: 1, Bytes: 43_200}, "saved 2 objects to a (43.2 kB): 1 of them whole, and the metadata of the others"},
		{v1alpha1.Snapshot{Objects: 2, WholeObjects: 2, Bytes: 1_000_000}, "saved 2 objects to a (1.0 MB): all whole"},
		{v1alpha1.Snapshot{Objects: 1, Bytes: 10}, "saved 1 object to a (0.0 kB): the metadata"},
		{v1alpha1.Snapshot{Objects: 3, Bytes: 200}, "saved 3 objects to a (0.2 kB): the metadata"},
	} {
		if got := Saved(&c.snapshot, "a"); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
