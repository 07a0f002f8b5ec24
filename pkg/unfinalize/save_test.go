package unfinalize

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWhatChangedAfterItWasArchivedIsLeftAlone: with an archive, nothing is lost that is not in it.
func TestWhatChangedAfterItWasArchivedIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		patch string
		left  bool
	}{
		"its content":       {`{"data":{"late":"change"}}`, true},
		"another finalizer": {`{"metadata":{"finalizers":["` + hold + `"]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.make(configMapType, "one", "example.com/other", hold)
			f.delete(configMapType, "one", metav1.DeletePropagationBackground)
			client := connect(t, f.c.Config())
			p := &Planned{Batches: [][]*Candidate{f.judge(client, configMapType, []string{hold, "example.com/other"}, "one")},
				Overrides: Overrides{Force: true}}
			if _, err := Save(t.Context(), client, p, filepath.Join(t.TempDir(), "a.yaml")); err != nil {
				t.Fatal(err)
			}
			f.mergePatch("one", test.patch)
			o := Perform(t.Context(), client, p.Allowed(), Options{})[0]
			if left := o.LeftAlone() && o.Err != nil &&
				strings.Contains(o.Err.Error(), "changed since it was archived"); left != test.left || o.Gone == left {
				t.Errorf("%s", says(o))
			}
			if test.left {
				f.is(configMapType, "one", "example.com/other", hold)
			}
		})
	}
}
