package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// TestAnArchiveCannotChangeWhatATerminalShows: a file may come from anybody.
func TestAnArchiveCannotChangeWhatATerminalShows(t *testing.T) {
	t.Parallel()
	evil := "x\x1b[31m\x1b]0;title\a\r\n\u009b2J\u202e\u2028y"
	ref := v1alpha1.ObjectRef{APIVersion: evil + "/v1", Kind: evil, Resource: evil, Namespace: evil, Name: evil, UID: evil}
	a := &v1alpha1.Archive{File: evil, Cluster: evil, Policy: evil, Roots: []v1alpha1.ObjectRef{ref},
		Objects: []v1alpha1.ObjectRef{ref}, Missing: []v1alpha1.ObjectRef{ref}, Damage: evil}
	for _, style := range []render.Style{{}, {Wide: true}} {
		var out bytes.Buffer
		if err := render.Archive(&out, a, style); err != nil {
			t.Fatal(err)
		}
		if err := render.ArchiveNames(&out, a); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if bad, ok := unsafeRune(strings.TrimSuffix(line, "\n")); !ok {
				t.Errorf("wide %t: %U in %q", style.Wide, bad, line)
			}
		}
	}
}
