package core

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// TestNothingIsSaidTwice: neither evidence nor commands of a cause that was found on several ways,
// and what was seen at another object is not dropped.
func TestNothingIsSaidTwice(t *testing.T) {
	about := v1alpha1.ObjectRef{APIVersion: "v1", Kind: "Node", Resource: "nodes", Name: "n"}
	at := func(i int) Finding {
		f := Finding{Code: NodeGone, About: &about, Evidence: Observed("the same", "the same", fmt.Sprintf("seen at %d", i)),
			After: 1}
		f.Commands = []Step{Describe(), Describe(), FixedCommand("kubectl", "get", fmt.Sprint(i))}
		return Found(graph.Ref{Name: fmt.Sprint(i)}, f)[0]
	}
	findings := Distinct([]Finding{at(0), at(1), at(0), at(2), at(3), at(4), at(5), at(6)})
	if len(findings) != 1 {
		t.Fatalf("%d findings, want 1", len(findings))
	}
	c := findings[0].Printed()
	want := []string{"the same", "seen at 0", "seen at 1", "seen at 2", "seen at 3", "seen at 4",
		"and the like of 2 objects more"}
	if !slices.Equal(c.Evidence, want) {
		t.Errorf("the evidence is %q, want %q", c.Evidence, want)
	}
	sorted := slices.Sorted(slices.Values(c.Commands))
	if len(slices.Compact(sorted)) != len(c.Commands) || len(c.Commands) > phrase.MaxNamed ||
		len(c.Steps) != len(c.Commands) {
		t.Errorf("the commands are %q", c.Commands)
	}
}
