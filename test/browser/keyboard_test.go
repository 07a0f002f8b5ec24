package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestArrowsWalkTheGraphAndEnterCollapses(t *testing.T) {
	tb := show(t, shop().Page, setup{})
	tb.expect("what is selected at first", tb.selected(), "Deployment/web")
	for _, step := range []struct{ key, want string }{
		{kb.ArrowRight, "ConfigMap/web-settings"}, {kb.ArrowDown, "ReplicaSet/web-1"}, {kb.ArrowRight, "Pod/web-1-0"},
		{kb.ArrowDown, "Pod/web-1-1"},
		{kb.ArrowUp, "Pod/web-1-0"}, {kb.ArrowLeft, "ReplicaSet/web-1"}, {kb.End, "Deployment/admin"},
		{kb.Home, "Deployment/web"}, {kb.ArrowUp, "Deployment/web"},
	} {
		tb.press(step.key)
		tb.expect("after a key", tb.selected(), step.want)
	}
	tb.expect("level of a root", tb.attribute("[role=treeitem]", "aria-level"), "1")
	tb.expect("roots", tb.attribute("[role=treeitem]", "aria-setsize"), "2")
	tb.expect("whether it is expanded", tb.attribute("[role=treeitem]", "aria-expanded"), "true")

	tb.press(kb.Enter)
	tb.expect("whether it is expanded after Enter", tb.attribute("[role=treeitem]", "aria-expanded"), "false")
	tb.expect("what is said", tb.text("#says"), "Deployment/web collapsed, 2 objects of 7 shown")
	tb.press(kb.ArrowDown)
	tb.expect("below what is collapsed", tb.selected(), "Deployment/admin")
	tb.press(kb.ArrowUp)
	tb.press(kb.ArrowRight)
	tb.expect("whether it is expanded again", tb.attribute("[role=treeitem]", "aria-expanded"), "true")
	tb.expect("what is selected still", tb.selected(), "Deployment/web")

	tb.press("e")
	tb.expect("the button after all was collapsed", tb.text("#fold"), "Expand all")
	tb.press("E")
	tb.expect("the button after all was expanded", tb.text("#fold"), "Collapse all")
}

func TestSearchFindsAndExpands(t *testing.T) {
	tb := show(t, shop().Page, setup{})
	tb.press("e")
	tb.press("/")
	tb.expect("what has the focus", eval[string](tb, "document.activeElement.id"), "query")
	tb.press("pod web-1")
	tb.expect("what was found", tb.text("#found"), "3 objects")
	tb.press(kb.Enter)
	tb.expect("the first", tb.selected(), "Pod/web-1-0")
	tb.press(kb.Enter)
	tb.expect("the second", tb.selected(), "Pod/web-1-1")
	tb.expect("which it is", tb.text("#found"), "2 of 3")
	tb.screenshot("search")
	tb.press(kb.Escape)
	tb.expect("the query after Escape", eval[string](tb, "document.getElementById('query').value"), "")
	tb.expect("what has the focus", eval[string](tb, "document.activeElement.id"), "tree")
	tb.press("/")
	tb.press("00000006-")
	tb.press(kb.Enter)
	tb.expect("found by its uid", tb.selected(), "Deployment/admin")
	tb.press("nothing")
	tb.expect("what nothing is called", tb.text("#found"), "no objects")
}

func TestZoomShowsWhereOneIs(t *testing.T) {
	tb := show(t, shop().Page, setup{})
	tb.settle()
	if !tb.hidden("#map") {
		t.Error("there is a map of what is shown whole")
	}
	for range 8 {
		tb.press("+")
	}
	if tb.hidden("#map") {
		t.Error("there is no map of what is shown in part")
	}
	tb.screenshot("zoomed")
	for range 8 {
		tb.press("-")
	}
	tb.press("0")
	if !tb.hidden("#map") {
		t.Error("there is a map after all is shown")
	}
}

func TestKeysAreListed(t *testing.T) {
	tb := show(t, shop().Page, setup{})
	tb.press("?")
	if !eval[bool](tb, "document.getElementById('keys').open") {
		t.Fatal("? lists no keys")
	}
	for _, want := range []string{"Search", "Collapse", "Zoom"} {
		if !strings.Contains(tb.text("#keys dl"), want) {
			t.Errorf("the keys lack %s", want)
		}
	}
	tb.screenshot("keys")
	tb.press(kb.Escape)
	if eval[bool](tb, "document.getElementById('keys').open") {
		t.Error("Escape does not close the keys")
	}
}

// TestTabReachesAllThatCanBeUsed: with Tab alone one comes to each control, sees where one is, and
// leaves the page. A page that was just opened has no frame around what has the focus.
func TestTabReachesAllThatCanBeUsed(t *testing.T) {
	tb := show(t, shop().Page, setup{})
	tb.expect("the outline at first", eval[string](tb, "getComputedStyle(document.activeElement).outlineStyle"), "none")
	tb.press(kb.Home)
	const controls = "document.querySelectorAll('button, input, summary, [tabindex]')"
	want := eval[int](tb, "[..."+controls+"].filter((e) => e.checkVisibility() && !e.disabled).length")
	reached := map[string]bool{}
	for range want + 1 {
		at := eval[string](tb, "String([..."+controls+"].indexOf(document.activeElement))")
		if at == "-1" { // what the browser has besides the page
			tb.press(kb.Tab)
			continue
		}
		if width := eval[string](
			tb, "getComputedStyle(document.activeElement).outlineWidth + ' ' + getComputedStyle(document.activeElement).outlineStyle"); width != "3px solid" {
			t.Errorf("control %s has the outline %s when it has the focus", at, width)
		}
		reached[at] = true
		tb.press(kb.Tab)
	}
	if len(reached) != want {
		t.Errorf("Tab reached %d of %d controls", len(reached), want)
	}
}

// TestMouseSelectsMovesAndCollapses: what is drawn in the middle is what is selected, and a drag
// moves it away from there.
func TestMouseSelectsMovesAndCollapses(t *testing.T) {
	tb := show(t, shop().Page, setup{media: map[string]string{"prefers-reduced-motion": "reduce"}})
	middle := eval[[]float64](
		tb, "(() => { const r = document.getElementById('tree').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
	tb.press("/")
	tb.press("pod web-1-2")
	tb.press(kb.Enter)
	tb.run(chromedp.Focus("#tree"))
	tb.press("c")
	tb.press(kb.ArrowUp)
	tb.expect("before the click", tb.selected(), "Pod/web-1-1")
	tb.run(chromedp.MouseClickXY(middle[0], middle[1]))
	tb.expect("after the click", tb.selected(), "Pod/web-1-2")
}
