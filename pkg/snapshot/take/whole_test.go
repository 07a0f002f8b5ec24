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
