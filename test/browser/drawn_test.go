package browser

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// drawn is a tree whose texts are all hostile ones: an object of each, owned by the one before,
// with a link to the one after next.
func drawn() render.Tree {
	b := graph.NewBuilder()
	for i, text := range hostileTexts {
		t := graph.Type{Group: fmt.Sprint("g", i), Version: "v1", Resource: fmt.Sprint("r", i), Kind: text, Namespaced: true}
		b.Serve(t)
		o := graph.Object{Namespace: text, Name: text, UID: fmt.Sprint("uid-", i)}
		if i > 0 {
			o.Owners = []graph.OwnerReference{{APIVersion: fmt.Sprintf("g%d/v1", i-1), Kind: hostileTexts[i-1],
				Name: hostileTexts[i-1], UID: fmt.Sprint("uid-", i-1), Block: i%2 == 0}}
		}
		l := b.Listing(t, "")
		l.Add(o)
		l.Complete()
	}
	g := b.Build()
	at := func(i int) graph.ID {
		id, _ := g.Lookup(fmt.Sprint("uid-", i))
		return id
	}
	links := map[graph.ID][]graph.Link{}
	for i := range len(hostileTexts) - 2 {
		links[at(i)] = []graph.Link{{Owner: at(i), Dependent: at(i + 2), Rule: hostileTexts[i]}}
	}
	rows := g.Tree([]graph.ID{at(0)},
		graph.TreeOptions{Depth: -1, Links: func(id graph.ID) []graph.Link { return links[id] }})
	return render.Tree{Graph: g, Rows: rows}
}

// edges and objects are how many of them the drawing of that tree has.
func counts() (objects, edges int) {
	return len(hostileTexts), len(hostileTexts) - 1 + len(hostileTexts) - 2
}

// printed is a text as all formats print it: on one line, with spaces where XML has them as it
// likes.
func printed(text string) string { return strings.Join(strings.Fields(render.Escape(text)), " ") }

func TestGraphvizDrawsHostileNamesAsTheyAre(t *testing.T) {
	var dot bytes.Buffer
	if err := render.TreeDOT(&dot, drawn()); err != nil {
		t.Fatal(err)
	}
	svg := graphviz(t, dot.Bytes())
	titles := 0
	texts := map[string]bool{}
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	in := ""
	var text strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the SVG of Graphviz cannot be read: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local
			text.Reset()
			for _, a := range token.Attr {
				if token.Name.Local == "g" && a.Name.Local == "class" && a.Value == "node" {
					titles++
				}
			}
		case xml.CharData:
			text.Write(token)
		case xml.EndElement:
			if in == "text" {
				texts[strings.Join(strings.Fields(strings.ReplaceAll(text.String(), "\u00a0", " ")), " ")] = true
			}
			in = ""
		}
	}
	objects, edges := counts()
	if titles != objects || strings.Count(string(svg), `class="edge"`) != edges {
		t.Errorf("Graphviz drew %d objects and %d edges, want %d and %d", titles, strings.Count(string(svg), `class="edge"`),
			objects, edges)
	}
	for _, name := range hostileTexts {
		if want := printed(name) + "/" + printed(name); !texts[want] {
			t.Errorf("Graphviz drew no %q", want)
		}
	}
	// As a document of its own, it does nothing either.
	_, drawing, _ := strings.Cut(string(svg), "<svg")
	tb := open(t, "<!doctype html><meta charset=utf-8><title>x</title><svg"+drawing, setup{})
	tb.expect("the title", eval[string](tb, "document.title"), "x")
	tb.screenshot("graphviz")
}

func graphviz(t *testing.T, dot []byte) []byte {
	t.Helper()
	var svg, errOut bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "dot", "-Tsvg")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(dot), &svg, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("dot -Tsvg: %v: run \"make browser\" first\n%s", err, errOut.String())
	}
	for _, line := range strings.Split(errOut.String(), "\n") {
		if line != "" && !strings.Contains(line, "Pango-WARNING") && !strings.Contains(line, "Fontconfig") {
			t.Errorf("Graphviz complains: %s", line)
		}
	}
	return svg.Bytes()
}

// mermaid draws a text with Mermaid's own renderer, and returns what its SVG has as texts.
func mermaid(t *testing.T, diagram string) *tab {
	t.Helper()
	root, err := testcluster.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join(root, "bin", "mermaid-*.min.js"))
	if err != nil || len(scripts) != 1 {
		t.Fatalf("bin has %d scripts of Mermaid, %v: run \"make browser\" first", len(scripts), err)
	}
	quoted := strings.NewReplacer(`\`, `\\`, "`", "\\`", "$", `\$`, "<", `\x3c`).Replace(diagram)
	tb := open(t, fmt.Sprintf(
		"<!doctype html><meta charset=utf-8><title>x</title><body><script src=\"file://%s\"></script><script>window.text = `%s`;</script>", scripts[0], quoted), setup{files: true})
	if failed := eval[string](tb, `(async () => { try {
		mermaid.initialize({ startOnLoad: false, maxTextSize: 1e6, maxEdges: 5000 });
		document.body.innerHTML = (await mermaid.render('drawing', window.text)).svg;
		return '';
	} catch (e) { return String(e); } })()`); failed != "" {
		t.Fatalf("Mermaid does not draw it: %s\n%s", failed, diagram)
	}
	return tb
}

func TestMermaidDrawsHostileNamesAsTheyAre(t *testing.T) {
	var diagram bytes.Buffer
	if err := render.TreeMermaid(&diagram, drawn()); err != nil {
		t.Fatal(err)
	}
	tb := mermaid(t, diagram.String())
	objects, edges := counts()
	if n := eval[int](tb, "document.querySelectorAll('g.node').length"); n != objects {
		t.Errorf("Mermaid drew %d objects, want %d", n, objects)
	}
	if n := eval[int](tb, "document.querySelectorAll('path.flowchart-link').length"); n != edges {
		t.Errorf("Mermaid drew %d edges, want %d", n, edges)
	}
	texts := map[string]bool{}
	for _, text := range eval[[]string](tb,
		"[...document.querySelectorAll('g.node')].map((e) => [...e.querySelectorAll('p, span, text')].concat(e).map((p) => p.innerHTML.split(/<br.*?>/).map((line) => { const d = document.createElement('div'); d.innerHTML = line; return d.textContent; })).flat()).flat()") {
		// which is there so that nothing is read as a formula or a line break
		texts[strings.Join(strings.Fields(strings.ReplaceAll(text, "\u2060", "")), " ")] = true
	}
	for _, name := range hostileTexts {
		if want := printed(name) + "/" + printed(name); !texts[want] {
			t.Errorf("Mermaid drew no %q", want)
		}
	}
	tb.expect("the title", eval[string](tb, "document.title"), "x")
	tb.screenshot("mermaid")
}

// TestTheDrawingsOfARealTree: what the binary prints is drawn with all its objects.
func TestTheDrawingsOfARealTree(t *testing.T) {
	c := testcluster.Shared(t)
	ns := stuckShop(t, c)
	objects := strings.Count(run(t, c.Kubeconfig(), "tree", "-n", ns, "-o", "name"), "\n")
	svg := graphviz(t, []byte(run(t, c.Kubeconfig(), "tree", "-n", ns, "-o", "dot")))
	if n := bytes.Count(svg, []byte(`class="node"`)); n != objects {
		t.Errorf("Graphviz drew %d objects, want %d", n, objects)
	}
	tb := mermaid(t, run(t, c.Kubeconfig(), "tree", "-n", ns, "-o", "mermaid"))
	if n := eval[int](tb, "document.querySelectorAll('g.node').length"); n != objects {
		t.Errorf("Mermaid drew %d objects, want %d", n, objects)
	}
	tb.screenshot("real-mermaid")
}
