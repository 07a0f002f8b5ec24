package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// hostileTexts are what an object, a reference to one or a server could call itself to run a
// script, to end a quote or to look like something else.
var hostileTexts = []string{
	`</script><script>document.title='taken over'</script>`, `<img src=x onerror="document.title='taken over'">`, `<!--`,
	`]]>`, `{{data}}`, `"><svg onload=alert(1)>`, `javascript:alert(1)`,
	`"quoted"`, `back\slash`, `\"`, `\n`, `<br/>`, `<b>bold</b>`, `&lt;b&gt;`, `#quot;`, `#35;`, `a"]; n0 --> n1`,
	`"];n9 [label="x"]`, `%%{init: {'theme':'dark'}}%%`, "`code`", `$$x^2$$`, `end`, `click n0 "x"`,
	"line\nbreak", "tab\tstop", "\x1b[31mred", "bidi\u202egpj.exe", "zero\u200bwidth", "line\u2028separator", "日本語",
	"👩‍👩‍👧", strings.Repeat("long-", 60),
}

// hostilePage has every hostile text in every place.
func hostilePage() *render.Page {
	b := newPage("kubectl gc tree " + strings.Join(hostileTexts, " "))
	b.Complete = false
	for i, text := range hostileTexts {
		o := b.add(text, text, i-1)
		object := &b.Objects[o]
		object.APIVersion, object.Namespace, object.UID, object.Resource, object.Status, object.Ready = text, text,
			fmt.Sprint(i, text), text, text, text
		object.State, object.DeletingFor, object.Age = v1alpha1.StateDeleting, text, text
		object.Failing = &v1alpha1.Condition{Type: text, Status: text, Reason: text, Message: text}
		object.Outcome = &render.PageOutcome{Word: "deleted", Because: text, WaitsFor: text, Policy: text}
		object.Finalizers = []render.PageFinalizer{{Name: text, Known: i}}
		object.Elsewhere = []render.PageOwner{{ObjectRef: v1alpha1.ObjectRef{Kind: text, Name: text},
			PageReference: render.PageReference{Problems: []string{text}}}}
		b.Known = append(b.Known, v1alpha1.ExplainedFinalizer{Name: text, Known: true, Actor: text, Component: "x" + text,
			Does: text, IfRemoved: text, Risk: text, Before: text, Note: text})
		if i > 0 {
			b.Edges[i-1].Link = text
		}
		b.Gaps = append(b.Gaps, v1alpha1.Gap{Resource: text, Group: text, Namespace: text, Message: text})
		b.Stuck = append(b.Stuck, v1alpha1.Stuck{Object: object.ObjectRef, Causes: []v1alpha1.Cause{{
			Code: text, Object: v1alpha1.ObjectRef{Kind: text, Name: text}, Summary: text, Evidence: []string{text},
			Remedy: text, Cost: text, Commands: []string{text},
			Steps: []v1alpha1.Step{{Command: text, Does: text, Risk: text}},
		}}})
	}
	b.Plan = &render.PagePlan{Summary: strings.Join(hostileTexts, " "), Warnings: hostileTexts, Remarks: hostileTexts,
		Steps: []render.PageStep{{Name: "wave 1"}}}
	for i, text := range hostileTexts {
		b.Plan.Steps[0].Actions = append(b.Plan.Steps[0].Actions, render.PageAction{Verb: text, Object: i, By: text, Because: text})
	}
	return b.Page
}

// spelled is a text as the page spells it: what is not seen, or reverses the direction of writing,
// is written out.
func spelled(text string) string {
	for _, r := range "\n\t\x1b\u202e\u2028" {
		text = strings.ReplaceAll(text, string(r), fmt.Sprintf(`\u%04x`, r))
	}
	return text
}

func TestHostileTextsAreShownAndDoNothing(t *testing.T) {
	p := hostilePage()
	tb := show(t, p, setup{})
	eval[bool](tb, "(document.getElementById('gaps').open = true)")
	tb.press("n")
	for i, text := range hostileTexts {
		tb.expect("the heading", tb.text("#object h2"), spelled(text)+"/"+spelled(text))
		if panel := tb.text("#panel"); strings.Count(panel, spelled(text)) < 10 {
			t.Errorf("the panel does not show %q", text)
		}
		if i%8 == 0 {
			tb.screenshot(fmt.Sprintf("hostile-%d", i))
		}
		tb.press(kb.ArrowRight)
	}
	allowed := []string{"BODY", "HTML", "HEAD", "META", "TITLE", "STYLE", "SCRIPT", "HEADER", "H1", "H2", "H3", "H4",
		"FORM", "INPUT", "OUTPUT", "DIV", "BUTTON", "DETAILS", "SUMMARY", "UL", "LI", "MAIN", "SECTION", "CANVAS", "ASIDE",
		"P", "DIALOG", "DL", "DT", "DD", "NOSCRIPT", "SPAN", "CODE"}
	for _, tag := range eval[[]string](tb, "[...new Set([...document.querySelectorAll('*')].map((e) => e.tagName))]") {
		if !slices.Contains(allowed, tag) {
			t.Errorf("the page has an element %s", tag)
		}
	}
	if n := eval[int](tb, "document.scripts.length"); n != 2 {
		t.Errorf("the page has %d scripts, want its data and its own", n)
	}
	if title := eval[string](tb, "document.title"); title == "taken over" {
		t.Error("a text ran as a script")
	}
}

// TestWhatAPageDoesWrongIsFound is there because a browser that reports nothing looks like a page
// that does nothing wrong.
func TestWhatAPageDoesWrongIsFound(t *testing.T) {
	const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='">`
	for name, test := range map[string]struct{ document, want string }{
		"a request":            {`<img src="file:///nowhere.png">`, "asks for file:///nowhere.png"},
		"an error":             {`<script>console.error('oh')</script>`, "writes error to the console"},
		"an exception":         {`<script>throw new Error('oh')</script>`, "throws"},
		"a script of another":  {policy + `<script>document.title = 'x'</script>`, "Content Security Policy"},
		"an attribute's style": {policy + `<p style="color: red">x</p>`, "Content Security Policy"},
	} {
		tb := openAny(t, "<!doctype html><title>x</title>"+test.document, setup{})
		tb.settle()
		if !slices.ContainsFunc(tb.found(), func(p string) bool { return strings.Contains(p, test.want) }) {
			t.Errorf("%s: found %q, want %s", name, tb.found(), test.want)
		}
	}
}
