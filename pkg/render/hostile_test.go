package render_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// checkOutput writes a tree in every format for people and looks that what objects say stays what
// they say.
func checkOutput(t *testing.T, tree render.Tree) {
	t.Helper()
	for _, format := range []string{"table", "wide", "names", "dot", "mermaid"} {
		var out bytes.Buffer
		if err := formats[format](&out, tree); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for _, line := range lines {
			if bad, ok := unsafeRune(line); !ok {
				t.Errorf("%s: %U in %q", format, bad, line)
			}
			if !shapes[format].MatchString(line) {
				t.Errorf("%s: not a line of that format: %q", format, line)
			}
		}
		rows := len(tree.Rows) + 1
		if (format == "table" || format == "wide") && len(lines) != rows {
			t.Errorf("%s: %d lines, want %d", format, len(lines), rows)
		}
	}
}

// shapes are what the lines of each format look like. In quotes is nothing that ends the quotes.
var shapes = map[string]*regexp.Regexp{
	"table": regexp.MustCompile(`^.*\S$`),
	"wide":  regexp.MustCompile(`^.*\S$`),
	"names": regexp.MustCompile(`^.*/.*$`),
	"dot": regexp.MustCompile(`^(strict digraph full \{|\}|` +
		`  n\d+ \[label="([^"\\]|\\["\\n])*" group="([^"\\]|\\["\\])*"( style="filled(,dashed)?" color="#\w+" fillcolor="#\w+")?\]|` +
		`  n\d+ -> n\d+( \[style=(dashed|dotted label="([^"\\]|\\["\\n])*")\])?)$`),
	"mermaid": regexp.MustCompile("^(flowchart LR|  classDef \\w+ stroke:#\\w+,fill:#\\w+,color:#\\w+|" +
		"  n\\d+\\[\"([^\"<>&%`\\\\#]|#\\w+;|<br/>)*\"\\](:::\\w+)?|" +
		"  n\\d+ (-->|-\\.->(\\|\"[^\"<>&%`\\\\#|]*\"\\|)?) n\\d+)$"),
}

// TestHostileTexts prints a tree in every form, all of whose texts try to move the cursor, to break
// a row, or to end a quote.
func TestHostileTexts(t *testing.T) { checkOutput(t, hostile()) }

// TestRandomTexts makes trees whose every text is random.
func TestRandomTexts(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			text := func() string {
				const pieces = "\x00\x1b\r\n\t\"\\#<>&;%`{}[]|-/.abc \u009b\u202e\u2028\u061c\xff"
				var b strings.Builder
				for range r.IntN(12) {
					if r.IntN(8) == 0 {
						b.WriteString(hostileTexts[r.IntN(len(hostileTexts))])
						continue
					}
					b.WriteByte(pieces[r.IntN(len(pieces))])
				}
				return b.String()
			}
			checkOutput(t, treeOfTexts(text))
		})
	}
}

// treeOfTexts is a small tree with an owner that was not seen, a dependent, a link and a hidden
// row, all called as text says.
func treeOfTexts(text func() string) render.Tree {
	b := graph.NewBuilder()
	var roots []string
	for i := range 4 {
		typ := graph.Type{Group: text(), Version: text(), Resource: text(), Kind: text(), Namespaced: true}
		uid := fmt.Sprint(i) + text()
		roots = append(roots, uid)
		o := graph.Object{Namespace: text(), Name: text(), UID: uid, Finalizers: []string{text(), text()}}
		o.Owners = []graph.OwnerReference{{APIVersion: text(), Kind: text(), Name: text(),
			UID: fmt.Sprint("gone", i) + text()}}
		if i > 0 {
			o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: text(), Kind: text(), Name: text(), UID: roots[i-1]})
		}
		b.Listing(typ, "").Add(o)
	}
	g := b.Build()
	readings := map[graph.ID]graph.PrinterColumns{}
	for i := range g.Len() {
		readings[graph.ID(i)] = graph.PrinterColumns{Ready: text(), Status: text(),
			Failing: &v1alpha1.Condition{Type: text(), Status: text(), Reason: text(), Message: text()}}
	}
	first, _ := g.Lookup(roots[0])
	last, _ := g.Lookup(roots[3])
	hidden, _ := g.Lookup(roots[2])
	rows := g.Tree(g.Roots(), graph.TreeOptions{
		Depth: -1, Show: func(id graph.ID) bool { return id != hidden },
		Links: func(id graph.ID) []graph.Link {
			if id != first {
				return nil
			}
			return []graph.Link{{Owner: id, Dependent: last, Rule: "crd"}}
		},
	})
	return render.Tree{Graph: g, Rows: rows, Now: now, Readings: readings}
}

// FuzzTree is TestRandomTexts with the texts that the fuzzer finds.
func FuzzTree(f *testing.F) {
	for i, text := range hostileTexts {
		f.Add(text, hostileTexts[(i+1)%len(hostileTexts)], hostileTexts[(i+2)%len(hostileTexts)])
	}
	f.Fuzz(func(t *testing.T, x, y, z string) {
		n := 0
		checkOutput(t, treeOfTexts(func() string {
			n++
			return []string{x, y, z}[n%3]
		}))
	})
}
