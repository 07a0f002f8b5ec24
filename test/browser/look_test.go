package browser

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// colourful has an object in every state and outcome, links, gaps, a cause and a finalizer.
func colourful() *render.Page {
	b := newPage("kubectl gc delete Namespace/shop")
	b.Complete = false
	b.Gaps = []v1alpha1.Gap{{Resource: "secrets", Namespace: "shop", Reason: v1alpha1.GapForbidden,
		Message: `secrets is forbidden: User "dev" cannot list resource "secrets"`}}
	root := b.add("Namespace", "shop", -1)
	b.Objects[root].Namespace = ""
	for _, word := range []string{"deleted", "kept", "orphaned", "unblocked", "protected", "deadlocked", "stuck",
		"forbidden"} {
		i := b.add("ConfigMap", "that-is-"+word, root)
		b.Objects[i].Outcome = &render.PageOutcome{Word: word, Because: "of an example"}
		b.Edges[len(b.Edges)-1] = render.PageEdge{Owner: root, Dependent: i, Link: "namespace"}
	}
	for state, name := range map[v1alpha1.State]string{v1alpha1.StateAbsent: "removed",
		v1alpha1.StateUnknown: "in-a-gap"} {
		owner := b.add("Secret", name, -1)
		b.Objects[owner].State, b.Objects[owner].Age = state, ""
		b.add("ConfigMap", "of-"+name, owner)
	}
	i := b.add("Challenge", "web-tls", root)
	o := &b.Objects[i]
	o.State, o.DeletingFor, o.Root = v1alpha1.StateDeleting, "12m", false
	o.Finalizers = []render.PageFinalizer{{Name: "acme.cert-manager.io/finalizer"}, {Name: "example.com/unknown", Known: 1}}
	b.Known = []v1alpha1.ExplainedFinalizer{
		{Name: "acme.cert-manager.io/finalizer", Known: true, Actor: "cert-manager",
			Does: "removes what solves the challenge", IfRemoved: "a stale record is left", Risk: "leaks-external"},
		{Name: "example.com/unknown"},
	}
	b.Stuck = []v1alpha1.Stuck{{Object: o.ObjectRef, Causes: []v1alpha1.Cause{{
		Code: "FinalizerActorDead", Object: o.ObjectRef, Finalizer: "acme.cert-manager.io/finalizer",
		Summary:  "cert-manager, which must remove this finalizer, is not running.",
		Evidence: []string{"Deployment cert-manager/cert-manager is scaled to 0"},
		Remedy:   "Start cert-manager again and let it finish.", Cost: "Removing it skips the cleanup.",
		Steps: []v1alpha1.Step{{Command: "kubectl scale deployments.apps/cert-manager -n cert-manager --replicas=1",
			Does: "starts cert-manager again"}},
	}}}}
	b.Plan = &render.PagePlan{Policy: "Background", Summary: "deletes at least 9 objects of 3 kinds in 2 waves",
		Steps: []render.PageStep{{Name: "wave 1", Actions: []render.PageAction{{Verb: "delete", Object: root, By: "client"}}}}}
	return b.Page
}

// contrast is the ratio of two colours, as WCAG defines it, as a function of JavaScript.
const contrast = `(names) => {
  const style = getComputedStyle(document.documentElement);
  const luminance = (name) => { const hex = style.getPropertyValue('--' + name).trim().slice(1);
    const [r, g, b] = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const [a, b] = names.map(luminance); return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }`

func TestTextCanBeReadInTheLightAndInTheDark(t *testing.T) {
	backgrounds := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		tb := show(t, colourful(), setup{media: map[string]string{"prefers-color-scheme": scheme}})
		backgrounds[scheme] = eval[string](tb, "getComputedStyle(document.body).backgroundColor")
		pairs := [][2]string{{"text", "page"}, {"text", "card"}, {"dim", "page"}, {"dim", "card"}, {"accent", "card"},
			{"accent", "page"}, {"bad", "card"}, {"bad", "page"}, {"warn", "card"}, {"text", "quiet-tint"},
			{"dim", "quiet-tint"}}
		for _, state := range []string{"quiet", "warn", "bad", "unknown", "good", "away"} {
			pairs = append(pairs, [2]string{state, state + "-tint"}, [2]string{"text", state + "-tint"},
				[2]string{"dim", state + "-tint"})
		}
		for _, pair := range pairs {
			if ratio := eval[float64](tb, fmt.Sprintf("(%s)([%q, %q])", contrast, pair[0], pair[1])); !(ratio >= 4.5) {
				t.Errorf("in the %s, %s on %s has the contrast %.2f, want 4.5", scheme, pair[0], pair[1], ratio)
			}
		}
		tb.screenshot("states-" + scheme)
		tb.press("/")
		tb.press("challenge\r")
		tb.screenshot("stuck-" + scheme)
	}
	if backgrounds["light"] == backgrounds["dark"] {
		t.Error("the page looks the same in the light and in the dark")
	}
}

// TestNothingMovesWhereThatIsNotWanted counts the pictures that a zoom takes.
func TestNothingMovesWhereThatIsNotWanted(t *testing.T) {
	const count = `const request = window.requestAnimationFrame.bind(window); window.frames_ = 0; window.requestAnimationFrame = (f) => request((now) => { window.frames_++; f(now); });`
	frames := func(motion string) int {
		tb := show(t, shop().Page, setup{before: count, media: map[string]string{"prefers-reduced-motion": motion}})
		tb.settle()
		return eval[int](
			tb, `new Promise((done) => { window.frames_ = 0; document.getElementById('in').click(); setTimeout(() => done(window.frames_), 400); })`)
	}
	if n := frames("reduce"); n != 1 {
		t.Errorf("a zoom took %d pictures, want 1", n)
	}
	if n := frames("no-preference"); n < 2 {
		t.Errorf("a zoom took %d pictures where it may move", n)
	}
}

// TestAGapIsSeen: a page that lacks something says so, and one that lacks nothing does not.
func TestAGapIsSeen(t *testing.T) {
	tb := show(t, colourful(), setup{})
	tb.expect("what is said of the gaps", tb.text("#gaps summary"),
		"Incomplete: 1 type could not be looked at: what is there is unknown, which is not absent, and the plan is the least that happens")
	if !eval[bool](tb, "document.getElementById('gaps').checkVisibility()") {
		t.Error("the gaps are not shown")
	}
	if tb := show(t, shop().Page, setup{}); !tb.hidden("#gaps") {
		t.Error("a page without gaps shows some")
	}
}

// TestASmallWindowShowsAll: nothing is wider than a phone, and the legend covers nothing.
func TestASmallWindowShowsAll(t *testing.T) {
	tb := show(t, colourful(), setup{width: 390, height: 780})
	if wide := eval[int](tb, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	if over := eval[float64](tb,
		"document.getElementById('canvas').getBoundingClientRect().bottom - document.getElementById('legend').getBoundingClientRect().top"); over > 0 {
		t.Errorf("the legend covers %.0f pixels of the graph", over)
	}
	tb.screenshot("small")
}
