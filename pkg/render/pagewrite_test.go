package render_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// hostileText is a text that would end the block of data, begin a comment or a script, or take the
// place of a part of the document.
const hostileText = `</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> {{data}} {{script}} {{policy}} &lt; ` + "\u2028\u202e"

func written(t *testing.T, p *render.Page) string {
	t.Helper()
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var (
	dataBlock   = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)
	scriptBlock = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
	styleBlock  = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	policyMeta  = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`)
)

func TestTextOfObjectsCannotLeaveTheData(t *testing.T) {
	p := &render.Page{Title: "kubectl gc tree " + hostileText, Objects: []render.PageObject{{
		ObjectRef: v1alpha1.ObjectRef{Kind: hostileText, Name: hostileText, Namespace: hostileText, UID: hostileText}, Status: hostileText,
		Finalizers: []render.PageFinalizer{{Name: hostileText}},
	}}, Gaps: []v1alpha1.Gap{{Message: hostileText}}}
	text := written(t, p)
	if n := strings.Count(text, "<script"); n != 2 {
		t.Errorf("the page has %d scripts, want its data and its own", n)
	}
	if strings.Contains(text, "<img") || strings.Count(text, "<!--") != 0 {
		t.Error("text of an object became part of the document")
	}
	data := dataBlock.FindStringSubmatch(text)[1]
	if at := strings.IndexAny(data, "<>&\u2028\u2029"); at >= 0 {
		t.Errorf("the data have the character %q", data[at])
	}
	var back render.Page
	if err := json.Unmarshal([]byte(data), &back); err != nil {
		t.Fatal(err)
	}
	if got := back.Objects[0].Name; got != hostileText {
		t.Errorf("the name came back as %q", got)
	}
	title := regexp.MustCompile(`<title>(.*?)</title>`).FindStringSubmatch(text)
	if title == nil || html.UnescapeString(title[1]) != p.Title {
		t.Errorf("the title is %q", title)
	}
}

func TestThePolicyAllowsItsOwnScriptAndStyleOnly(t *testing.T) {
	text := written(t, &render.Page{Title: "kubectl gc tree"})
	policy := html.UnescapeString(policyMeta.FindStringSubmatch(text)[1])
	want := "default-src 'none'; script-src " + source(scriptBlock.FindStringSubmatch(text)[1]) + "; style-src " +
		source(styleBlock.FindStringSubmatch(text)[1]) +
		"; base-uri 'none'; form-action 'none'"
	if policy != want {
		t.Errorf("the policy is %s\nwant %s", policy, want)
	}
	if strings.Contains(text, "{{") {
		t.Error("a mark was not replaced")
	}
}

func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// TestTheScriptMakesNoMarkup: what it is given becomes text and never markup, and it asks nobody
// for anything.
func TestTheScriptMakesNoMarkup(t *testing.T) {
	script := scriptBlock.FindStringSubmatch(written(t, &render.Page{}))[1]
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(",
		"fetch(", "XMLHttpRequest", "WebSocket", "import(", "localStorage"} {
		if strings.Contains(script, word) {
			t.Errorf("the script has %s", word)
		}
	}
}

func TestAFinalizerIsExplainedOnceForAllObjectsThatItMeansTheSameOn(t *testing.T) {
	on := func(kind string, finalizers ...string) render.PageObject {
		o := render.PageObject{ObjectRef: v1alpha1.ObjectRef{APIVersion: "v1", Kind: kind}}
		for _, f := range finalizers {
			o.Finalizers = append(o.Finalizers, render.PageFinalizer{Name: f})
		}
		return o
	}
	p := &render.Page{Objects: []render.PageObject{on("Pod", "a", "b"), on("Pod", "a"), on("Service", "a"), on("Secret", "a")}}
	asked := 0
	p.Explain(func(name string, object v1alpha1.ObjectRef) v1alpha1.ExplainedFinalizer {
		asked++
		if object.Kind == "Service" {
			return v1alpha1.ExplainedFinalizer{Name: name, ID: "of services"}
		}
		return v1alpha1.ExplainedFinalizer{Name: name, ID: "of all"}
	})
	if asked != 4 || len(p.Known) != 3 {
		t.Errorf("asked %d times for %d answers, want 4 and 3", asked, len(p.Known))
	}
	var got []string
	for _, o := range p.Objects {
		for _, f := range o.Finalizers {
			got = append(got, f.Name+" "+p.Known[f.Known].Name+" "+p.Known[f.Known].ID)
		}
	}
	want := "a a of all, b b of all, a a of all, a a of services, a a of all"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
}

func TestAWriterThatFailsIsAnError(t *testing.T) {
	if err := (&render.Page{}).Write(broken{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("broken pipe")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }
