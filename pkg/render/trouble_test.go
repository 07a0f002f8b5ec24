package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// TestCausesWithTheirOwnSentenceAreToldApart: what one object says of its deletion is not told of
// another, and what both say is told once.
func TestCausesWithTheirOwnSentenceAreToldApart(t *testing.T) {
	t.Parallel()
	stuck := func(name, says string) v1alpha1.Stuck {
		o := v1alpha1.ObjectRef{APIVersion: "example.com/v1", Kind: "Widget", Resource: "widgets", Name: name}
		return v1alpha1.Stuck{Object: o, Causes: []v1alpha1.Cause{{Code: "ActorWaiting", Object: o,
			Finalizer: "example.com/x", Actor: "Widget operator", Summary: says, Remedy: "Look at the owner."}}}
	}
	var out strings.Builder
	d := &v1alpha1.Diagnosis{Complete: true, Stuck: []v1alpha1.Stuck{stuck("a", "It waits for red."),
		stuck("b", "It waits for blue."), stuck("c", "It waits for red.")}}
	if err := render.Diagnosis(&out, d, time.Now(), render.Style{}); err != nil {
		t.Fatal(err)
	}
	red, blue := strings.Count(out.String(), "for red."), strings.Count(out.String(), "for blue.")
	if red != 1 || blue != 1 {
		t.Errorf("red is told %d times and blue %d times, want each once:\n%s", red, blue, out.String())
	}
}
