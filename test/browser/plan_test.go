package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// planned is the plan of a small tree: a root, what is deleted after it in two waves, something
// that waits for a finalizer, and something that is kept.
func planned() builder {
	b := shop()
	b.Title = "kubectl gc delete Deployment/web"
	for i := range b.Objects {
		b.Objects[i].Outcome = &render.PageOutcome{Word: "deleted", Because: "its owner is gone", Policy: "Background"}
	}
	b.Objects[1].Outcome = &render.PageOutcome{Word: "kept", Because: "Deployment/admin owns it too"}
	b.Objects[4].Outcome.WaitsFor = "example.com/drain"
	b.Objects[6].Outcome = &render.PageOutcome{}
	deletes := func(objects ...int) (actions []render.PageAction) {
		for _, o := range objects {
			actions = append(actions, render.PageAction{Verb: "delete", Object: o, By: "collector", Because: "its owner is gone"})
		}
		return actions
	}
	b.Plan = &render.PagePlan{Policy: "Background", Summary: "deletes 5 objects of 3 kinds in 3 waves; 1 kept",
		Digest: "sha256:abc", Warnings: []string{"you may not delete pods"}, Steps: []render.PageStep{
			{Name: "wave 1", Actions: deletes(0)},
			{Name: "wave 2", Actions: append(deletes(2), render.PageAction{Verb: "orphan", Object: 1, By: "collector"})},
			{Name: "wave 3", Actions: deletes(3, 4, 5)},
		}}
	return b
}

// legend is how many objects are in which state, as the page says.
func (tb *tab) legend() string {
	tb.t.Helper()
	return eval[string](tb, "[...document.querySelectorAll('#legend button')].map((b) => b.textContent).join(', ')")
}

func TestWavesAreSteppedThroughByKeysAndButtons(t *testing.T) {
	tb := show(t, planned().Page, setup{})
	for _, want := range []string{"deletes 5 objects of 3 kinds in 3 waves; 1 kept", "sha256:abc",
		"you may not delete pods"} {
		if !strings.Contains(tb.text("#plan"), want) {
			t.Errorf("the plan does not say %q", want)
		}
	}
	tb.expect("what comes of the whole plan", tb.legend(), "active 1, deleted 5, kept 1")
	for _, step := range []struct{ says, legend string }{
		{"wave 1 (1 of 3): 1 write", "active 1, deleted 1, kept 1, not begun 4"},
		{"wave 2 (2 of 3): 2 writes", "active 1, deleted 1, gone 1, kept 1, not begun 3"},
		{"wave 3 (3 of 3): 3 writes", "active 1, deleted 2, gone 2, kept 1, terminating 1"},
	} {
		tb.press("n")
		tb.expect("the step", tb.text("#step"), step.says)
		tb.expect("the states in it", tb.legend(), step.legend)
		tb.screenshot("plan-" + strings.ReplaceAll(step.says[:6], " ", "-"))
	}
	tb.press("n")
	tb.expect("the step after the last", tb.text("#step"), "wave 3 (3 of 3): 3 writes")
	if !eval[bool](tb, "document.getElementById('next').disabled") {
		t.Error("there is a next step after the last")
	}
	tb.press("p")
	tb.expect("the step before", tb.text("#step"), "wave 2 (2 of 3): 2 writes")
	eval[bool](tb, "(document.getElementById('previous').click(), true)")
	tb.expect("the step after a click", tb.text("#step"), "wave 1 (1 of 3): 1 write")
	tb.expect("the writes of the step", tb.text("#actions"), "delete Deployment/web by the collector: its owner is gone")
	eval[bool](tb, "(document.getElementById('whole').click(), true)")
	tb.expect("the whole plan again", tb.legend(), "active 1, deleted 5, kept 1")

	tb.press("/")
	tb.press("web-settings")
	tb.press(kb.Enter)
	tb.expect("what is selected", tb.selected(), "ConfigMap/web-settings")
	for _, want := range []string{"kept", "Deployment/admin owns it too", "wave 2"} {
		if !strings.Contains(tb.text("#object"), want) {
			t.Errorf("the panel does not say %q: %s", want, tb.text("#object"))
		}
	}
}

// TestAStateInTheLegendIsFound: a click on it shows the objects in that state, and another one all.
func TestAStateInTheLegendIsFound(t *testing.T) {
	tb := show(t, planned().Page, setup{})
	eval[bool](tb, "([...document.querySelectorAll('#legend button')].find((b) => b.textContent.startsWith('kept')).click(), true)")
	tb.expect("what was found", tb.text("#found"), "1 object")
	eval[bool](tb, "([...document.querySelectorAll('#legend button')].find((b) => b.textContent.startsWith('kept')).click(), true)")
	tb.expect("what was found after another click", tb.text("#found"), "")
}
