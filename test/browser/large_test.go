package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// many is a page of 5,000 objects: a namespace with 300 Deployments, their ReplicaSets and Pods,
// and ConfigMaps of two owners.
func many() builder {
	b := newPage("kubectl gc tree -A")
	const objects = 5000
	for d := 0; len(b.Objects) < objects; d++ {
		web := b.add("Deployment", fmt.Sprintf("web-%d", d), -1)
		set := b.add("ReplicaSet", fmt.Sprintf("web-%d-5d79f54576", d), web)
		pods := 10
		if d%50 == 0 {
			pods = 200
		}
		for p := range min(pods, objects-len(b.Objects)) {
			pod := b.add("Pod", fmt.Sprintf("web-%d-5d79f54576-%04d", d, p), set)
			b.Objects[pod].Ready = "1/1"
			if p%9 == 0 {
				b.Objects[pod].State = v1alpha1.StateDeleting
			}
			if p%7 == 0 {
				b.owns(0, pod)
			}
		}
	}
	return b
}

// timed measures what the script of the page does for each of its pictures.
const timed = `window.request_ = window.requestAnimationFrame.bind(window); window.took_ = [];
window.requestAnimationFrame = (f) => request_((now) => { const began = performance.now(); f(now); window.took_.push(performance.now() - began); });`

// wheel turns the wheel over the graph sixty times, and returns how long the script took for each
// picture, and last how far apart they came, in milliseconds.
const wheel = `(async (zoom) => { const tree = document.getElementById('tree'), began = performance.now(); window.took_ = [];
for (let i = 0; i < 60; i++) {
  tree.dispatchEvent(new WheelEvent('wheel', { deltaY: zoom ? (i < 30 ? -40 : 40) : 30, ctrlKey: zoom, clientX: 400, clientY: 400, cancelable: true }));
  await new Promise((f) => request_(f));
}
return [...window.took_.sort((a, b) => a - b), (performance.now() - began) / 60]; })`

// turn turns the wheel and prints what the pictures took.
func (tb *tab) turn(what string, zooms bool) {
	tb.t.Helper()
	took := eval[[]float64](tb, fmt.Sprintf("%s(%t)", wheel, zooms))
	last := len(took) - 1
	if last < 30 {
		tb.t.Fatalf("%s: %d pictures were drawn", what, last)
	}
	tb.t.Logf("%s: %.1f ms of script for a picture in the median, %.1f ms at most; a picture every %.1f ms", what,
		took[last/2], took[last-1], took[last])
}

func TestFiveThousandObjects(t *testing.T) {
	tb := show(t, many().Page, setup{before: timed})
	opened := eval[float64](tb, "performance.timing.loadEventEnd - performance.timing.responseEnd")
	n := eval[int](tb, "JSON.parse(document.getElementById('data').textContent).objects.length")
	tb.screenshot("large")
	tb.press("0")
	tb.screenshot("large-fit")

	t.Logf("%d objects, opened in %.0f ms", n, opened)
	tb.turn("zooming, all in sight", true)
	tb.turn("moving, all in sight", false)
	tb.press(kb.Home)
	tb.press("c")
	tb.turn("moving, near enough to read", false)

	tb.press("/")
	tb.press("web-200-5d79f54576-0009")
	tb.press(kb.Enter)
	tb.expect("what was found among many", tb.selected(), "Pod/web-200-5d79f54576-0009")
	tb.press(kb.Escape)
	tb.screenshot("large-found")
	tb.press(kb.ArrowLeft)
	tb.expect("its owner", tb.selected(), "ReplicaSet/web-200-5d79f54576")
	tb.press(kb.Home)
	tb.press(kb.ArrowRight)
	tb.press(kb.ArrowRight)
	tb.expect("the first of a block", tb.selected(), "Pod/web-0-5d79f54576-0000")
	tb.press(kb.ArrowRight)
	second := tb.selected()
	tb.press(kb.ArrowLeft)
	tb.expect("the first of a block again", tb.selected(), "Pod/web-0-5d79f54576-0000")
	if second == "Pod/web-0-5d79f54576-0000" {
		t.Error("the arrow does not go to the next column of a block")
	}
	tb.screenshot("large-block")
}

// TestADeepChain: a chain of owners is as long as a cluster allows, and the page has no end of a
// stack.
func TestADeepChain(t *testing.T) {
	b := newPage("kubectl gc tree")
	last := -1
	for i := range 20_000 {
		last = b.add("ConfigMap", fmt.Sprintf("link-%d", i), last)
	}
	tb := show(t, b.Page, setup{})
	tb.press(kb.End)
	tb.expect("the end of the chain", tb.selected(), "ConfigMap/link-19999")
	tb.press(kb.Home)
	tb.press(kb.Enter)
	tb.expect("what is shown of the chain", tb.text("#says"), "ConfigMap/link-0 collapsed, 1 object of 20000 shown")
}
