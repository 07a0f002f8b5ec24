package graph_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// TestAGapOfADumpIsNotWhereAllWasSaved, and that of a cluster can be anywhere. Of no owners nothing is
// known that says where it is not.
func TestAGapOfADumpIsNotWhereAllWasSaved(t *testing.T) {
	t.Parallel()
	b := newBuilder()
	b.Listing(pods, "shop").Complete()
	g := b.Build()
	for _, test := range []struct {
		reason     v1alpha1.GapReason
		namespaces []string
		hides      bool
	}{
		{v1alpha1.GapNotSaved, []string{"shop"}, false},
		{v1alpha1.GapNotSaved, []string{"bank"}, true},
		{v1alpha1.GapNotSaved, []string{"bank", "shop"}, true},
		{v1alpha1.GapNotSaved, []string{""}, true},
		{v1alpha1.GapNotSaved, nil, true},
		{v1alpha1.GapForbidden, []string{"shop"}, true},
		{v1alpha1.GapForbidden, nil, true},
	} {
		in := map[string]bool{}
		for _, ns := range test.namespaces {
			in[ns] = true
		}
		gap := v1alpha1.Gap{Resource: pods.Resource, Group: pods.Group, Reason: test.reason}
		if got := len(g.HidingIn([]v1alpha1.Gap{gap}, in)) > 0; got != test.hides {
			t.Errorf("%s in %q: hides %t, want %t", test.reason, test.namespaces, got, test.hides)
		}
	}
}
