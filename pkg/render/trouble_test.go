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
	told := func(color string) int {
		return strings.Count(out.String(), ": It waits for "+color+". (ActorWaiting)\n  stuck")
	}
	red, blue := told("red"), told("blue")
	if red != 1 || blue != 1 {
		t.Errorf("red is told %d times and blue %d times, want each once:\n%s", red, blue, out.String())
	}
}

// TestCausesThatDifferInTheFinalizerAreToldOnce with the commands of each, unless something else
// differs too.
func TestCausesThatDifferInTheFinalizerAreToldOnce(t *testing.T) {
	t.Parallel()
	o := v1alpha1.ObjectRef{APIVersion: "example.com/v1", Kind: "Widget", Resource: "widgets", Name: "a"}
	cause := func(name, remedy string, evidence ...string) v1alpha1.Cause {
		return v1alpha1.Cause{Code: "FinalizerActorUnknown", Object: o, Finalizer: "example.com/" + name, Remedy: remedy,
			Evidence: evidence, Steps: []v1alpha1.Step{{Command: "kubectl describe widgets/a"},
				{Command: "kubectl gc unfinalize widgets/a --finalizer example.com/" + name}}}
	}
	told := func(causes ...v1alpha1.Cause) string {
		var out strings.Builder
		d := &v1alpha1.Diagnosis{Complete: true, Stuck: []v1alpha1.Stuck{{Object: o, Causes: causes}}}
		if err := render.Diagnosis(&out, d, time.Now(), render.Style{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	once := told(cause("x", "Look."), cause("y", "Look."), cause("z", "Look."))
	for _, want := range []string{"finalizer example.com/x, example.com/y and example.com/z\n", "1. kubectl describe widgets/a\n",
		"2. kubectl gc unfinalize widgets/a --finalizer example.com/x\n",
		"4. kubectl gc unfinalize widgets/a --finalizer example.com/z\n"} {
		if strings.Count(once, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, once)
		}
	}
	for _, other := range []v1alpha1.Cause{cause("y", "Look elsewhere."), cause("y", "Look.", "it was seen")} {
		if out := told(cause("x", "Look."), other); strings.Count(out, "kubectl describe") != 2 {
			t.Errorf("two causes are told as one:\n%s", out)
		}
	}
}

// TestSeveralCausesBeginWithAnOverview: a line each that fits the terminal, first that whose last
// command harms most. A single one has none.
func TestSeveralCausesBeginWithAnOverview(t *testing.T) {
	t.Parallel()
	stuck := func(name, says string, risks ...string) v1alpha1.Stuck {
		o := v1alpha1.ObjectRef{APIVersion: "example.com/v1", Kind: "Widget", Resource: "widgets", Name: name}
		c := v1alpha1.Cause{Code: "Code" + strings.ToUpper(name), Object: o, Summary: says}
		for _, risk := range risks {
			c.Steps = append(c.Steps, v1alpha1.Step{Command: "kubectl get x", Risk: risk})
		}
		return v1alpha1.Stuck{Object: o, Causes: []v1alpha1.Cause{c}}
	}
	d := &v1alpha1.Diagnosis{Complete: true, Stuck: []v1alpha1.Stuck{stuck("a", "It waits.", "data-loss", "none"),
		stuck("b", "It waits for something that takes many words to be told of, and more.", "none", "data-loss"),
		stuck("c", "", "leaks-external")}}
	const want = `3 causes, the most harmful to remove by hand first:
  widget/b: It waits for something that takes many… (CodeB)
  widget/c (CodeC)
  widget/a: It waits. (CodeA)

widget/a: It waits. (CodeA)
`
	var out strings.Builder
	if err := render.Diagnosis(&out, d, time.Now(), render.Style{Width: 60}); err != nil || !strings.HasPrefix(out.String(),
		want) {
		t.Errorf("%v, want it to begin with\n%s\ngot\n%s", err, want, out.String())
	}
	out.Reset()
	if err := render.Diagnosis(&out, d, time.Now(), render.Style{Width: 60, ASCII: true}); err != nil ||
		!strings.Contains(out.String(), "takes many~ (CodeB)\n") {
		t.Errorf("%v, in ASCII\n%s", err, out.String())
	}
	out.Reset()
	d.Stuck = d.Stuck[:1]
	if err := render.Diagnosis(&out, d, time.Now(), render.Style{Width: 60}); err != nil ||
		!strings.HasPrefix(out.String(), "widget/a: It waits. (CodeA)\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
	d.Stuck[0].Causes, d.Stuck[0].Object.UID = nil, "uid"
	out.Reset()
	if err := render.Diagnosis(&out, d, time.Now(), render.Style{}); err != nil ||
		out.String() != "widget/a is not being deleted\n" {
		t.Errorf("%v\n%s", err, out.String())
	}
}
