package take

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWholeObjectsSayThatTheyHaveCopies: kubectl apply --prune goes by the annotation, whatever is in
// it.
func TestWholeObjectsSayThatTheyHaveCopies(t *testing.T) {
	t.Parallel()
	got, err := cleaned([]byte(`{"metadata":{"name":"web","annotations":{"kept":"<b>",`+
		`"kubectl.kubernetes.io/last-applied-configuration":"secret"}}}`), graph.Type{Version: "v1", Kind: "Pod"})
	want := `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"kept":"<b>",` +
		`"kubectl.kubernetes.io/last-applied-configuration":""},"name":"web"}}`
	if err != nil || strings.TrimSpace(string(got)) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// TestWholeObjectsSayWhatTheyAre: those of a built-in type in a list do not, and are given it.
func TestWholeObjectsSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	want := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"web"},"spec":{"n":1}}`
	for _, raw := range []string{want, `{"metadata":{"name":"web"},"spec":{"n":1}}`,
		`{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"web"},"spec":{"n":1}}`} {
		got, err := cleaned([]byte(raw), graph.Type{Group: "example.com", Version: "v1", Kind: "Widget"})
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("of %s: %s, %v", raw, got, err)
		}
	}
}
