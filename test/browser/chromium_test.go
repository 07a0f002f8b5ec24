package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// tab is a tab of Chromium with one document. It records what the document asks for and complains
// about.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	mu       sync.Mutex
	problems []string
}

// within bounds what a test waits for in the browser.
const within = time.Minute

// setup is how a tab is opened.
type setup struct {
	width, height int64
	// media are features of the user's: prefers-color-scheme and prefers-reduced-motion.
	media map[string]string
	// before is a script that runs before those of the document.
	before string
	// files lets the document load other files.
	files bool
}

// chromium starts the browser, once for all tests.
var chromium = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.Flag("force-device-scale-factor", "1"))
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	// An event that is newer than the library is no concern of a test.
	ctx, _ := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	return ctx, chromedp.Run(ctx)
})

// stopChromium ends the browser, if a test has started it.
func stopChromium() {
	if ctx, err := chromium(); err == nil {
		_ = chromedp.Cancel(ctx)
	}
}

// open writes a document to a file and opens that in a new tab, as a user does who was given it.
// When the test ends, what the document should not have done is an error.
func open(t *testing.T, document string, with setup) *tab {
	t.Helper()
	tb := openAny(t, document, with)
	t.Cleanup(func() {
		for _, problem := range tb.found() {
			t.Errorf("the page %s", problem)
		}
	})
	return tb
}

// openAny is open for a document that may do wrong.
func openAny(t *testing.T, document string, with setup) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	browser, err := chromium()
	if err != nil {
		t.Fatalf("starting Chromium: %v: run \"make browser\" first", err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, within)
	t.Cleanup(stop)
	tb := &tab{t: t, ctx: ctx, url: "file://" + file}
	chromedp.ListenTarget(ctx, func(event any) { tb.observe(event, with.files) })
	var features []*emulation.MediaFeature
	for name, value := range with.media {
		features = append(features, &emulation.MediaFeature{Name: name, Value: value})
	}
	if with.width == 0 {
		with.width, with.height = 1280, 800
	}
	tb.run(
		network.Enable(), log.Enable(), runtime.Enable(), cdppage.Enable(),
		cdppage.BringToFront(), emulation.SetFocusEmulationEnabled(true), // what is behind another tab is not drawn
		emulation.SetDeviceMetricsOverride(with.width, with.height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures(features),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := cdppage.AddScriptToEvaluateOnNewDocument(with.before).Do(ctx)
			return err
		}),
		chromedp.Navigate(tb.url),
	)
	return tb
}

// show opens the page of what it is given.
func show(t *testing.T, p *render.Page, with setup) *tab {
	t.Helper()
	var out strings.Builder
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return open(t, out.String(), with)
}

// observe records what a page that is one file and does nothing wrong does not do.
func (tb *tab) observe(event any, files bool) {
	problem := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Request.URL != tb.url && (!files || !strings.HasPrefix(e.Request.URL, "file://")) &&
			!strings.HasPrefix(e.Request.URL, "data:") {
			problem = "asks for " + e.Request.URL
		}
	case *runtime.EventExceptionThrown:
		problem = "throws " + e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.APITypeLog && e.Type != runtime.APITypeDebug && e.Type != runtime.APITypeInfo {
			problem = fmt.Sprintf("writes %s to the console", e.Type)
			for _, argument := range e.Args {
				problem += " " + string(argument.Value)
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			problem = "is complained about: " + e.Entry.Text
		}
	}
	if problem == "" {
		return
	}
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.problems = append(tb.problems, problem)
}

func (tb *tab) found() []string {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return tb.problems
}

func (tb *tab) run(actions ...chromedp.Action) {
	tb.t.Helper()
	if err := chromedp.Run(tb.ctx, actions...); err != nil {
		tb.t.Fatal(err)
	}
}

// eval evaluates an expression in the page, whose value a promise may have, and decodes it.
func eval[T any](tb *tab, expression string) T {
	tb.t.Helper()
	var value T
	awaited := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	if err := chromedp.Run(tb.ctx, chromedp.Evaluate(expression, &value, awaited)); err != nil {
		tb.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// text is the text of the first element that a selector finds.
func (tb *tab) text(selector string) string {
	tb.t.Helper()
	return eval[string](tb, fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", selector))
}

// attribute is an attribute of the first element that a selector finds.
func (tb *tab) attribute(selector, name string) string {
	tb.t.Helper()
	return eval[string](tb, fmt.Sprintf("document.querySelector(%q)?.getAttribute(%q) ?? ''", selector, name))
}

// hidden reports whether an element is hidden.
func (tb *tab) hidden(selector string) bool {
	tb.t.Helper()
	return eval[bool](tb, fmt.Sprintf("document.querySelector(%q).hidden", selector))
}

// press presses keys, as a keyboard does: a key that the page takes for itself writes nothing. It
// waits until the page has been drawn again.
func (tb *tab) press(keys string) {
	tb.t.Helper()
	for _, r := range keys {
		tb.run(chromedp.ActionFunc(func(ctx context.Context) error {
			events := kb.Encode(r)
			down, up := events[0], events[len(events)-1]
			down.Type, down.Text = input.KeyDown, events[len(events)/2].Text
			return errors.Join(down.Do(ctx), up.Do(ctx))
		}))
	}
	tb.settle()
}

// settle waits until nothing moves on the page any more, which takes as long as a movement at most.
func (tb *tab) settle() {
	tb.t.Helper()
	eval[bool](tb, `new Promise((done) => { const end = performance.now() + 250; const frame = () => performance.now() > end ? done(true) : requestAnimationFrame(frame); requestAnimationFrame(frame); })`)
}

// screenshot writes what the tab shows to the folder screenshots.
func (tb *tab) screenshot(name string) {
	tb.t.Helper()
	var image []byte
	tb.settle()
	tb.run(chromedp.CaptureScreenshot(&image))
	if err := os.MkdirAll("screenshots", 0o755); err != nil {
		tb.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("screenshots", name+".png"), image, 0o644); err != nil {
		tb.t.Fatal(err)
	}
}

// selected is the object that is selected, as the panel and as a screen reader say.
func (tb *tab) selected() string {
	tb.t.Helper()
	heading, item := tb.text("#object h2"), tb.text("[role=treeitem]")
	if kind, name, _ := strings.Cut(heading, "/"); !strings.HasPrefix(item, kind+" "+name) {
		tb.t.Errorf("the panel shows %q, and the tree says %q", heading, item)
	}
	if got := tb.attribute("#tree", "aria-activedescendant"); got == "" || got != tb.attribute("[role=treeitem]", "id") {
		tb.t.Errorf("the tree names %q as what is selected", got)
	}
	return heading
}

// expect compares what is said with what should be.
func (tb *tab) expect(what, got, want string) {
	tb.t.Helper()
	if got != want {
		tb.t.Errorf("%s: %q, want %q", what, got, want)
	}
}
