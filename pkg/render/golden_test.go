package render_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// formats are the ways to write a tree, by the name of the file.
var formats = map[string]func(io.Writer, render.Tree) error{
	"table":    func(w io.Writer, t render.Tree) error { return render.TreeTable(w, t, render.Style{}) },
	"wide":     func(w io.Writer, t render.Tree) error { return render.TreeTable(w, t, render.Style{Wide: true}) },
	"terminal": func(w io.Writer, t render.Tree) error { return render.TreeTable(w, t, render.Style{Width: 100}) },
	"color": func(w io.Writer, t render.Tree) error {
		return render.TreeTable(w, t, render.Style{Palette: render.NewPalette(render.Always, w)})
	},
	"ascii":   func(w io.Writer, t render.Tree) error { return render.TreeTable(w, t, render.Style{ASCII: true}) },
	"dot":     render.TreeDOT,
	"mermaid": render.TreeMermaid,
	"names":   func(w io.Writer, t render.Tree) error { return render.RowNames(w, t.Graph, slices.Values(t.Rows)) },
	"json":    writeJSON,
}

func writeJSON(w io.Writer, t render.Tree) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(printedTree(t,
		v1alpha1.Gap{Resource: "backups", Group: "example.com", Reason: v1alpha1.GapForbidden, Message: "no"}))
}

// TestGolden compares what is written with testdata; go test ./pkg/render -update writes it.
func TestGolden(t *testing.T) {
	hide := func(kinds ...string) func(graph.ID) bool {
		hidden := map[string]bool{}
		for _, kind := range kinds {
			hidden[kind] = true
		}
		g := shop().Graph // the same whenever it is built
		return func(id graph.ID) bool { return !hidden[g.Ref(id).Kind] }
	}
	tests := []struct {
		name    string
		tree    render.Tree
		formats []string
	}{
		{"forest", shop(), []string{"table", "wide", "color", "dot", "mermaid", "names", "json"}},
		{"depth", treeOf(t, graph.TreeOptions{Depth: 1}, "web", "api"), []string{"table", "names"}},
		{"depth-nearer", nearer(), []string{"table", "names", "json"}},
		{"owners", treeOf(t, graph.TreeOptions{Depth: -1, Owners: true}, "web-5d9c7b8f6d-x2lq9", "under-shared", "ring-a"),
			[]string{"table", "wide", "dot", "json"}},
		{"hidden", treeOf(t, graph.TreeOptions{Depth: -1, Show: hide("ReplicaSet")}, "web", "api"),
			[]string{"table", "dot", "mermaid"}},
		{"hidden-owners", treeOf(t, graph.TreeOptions{Depth: -1, Owners: true, Show: hide("ReplicaSet")},
			"web-5d9c7b8f6d-x2lq9"), []string{"table", "dot"}},
		{"links", linked(t, nil), []string{"table", "wide", "dot", "mermaid", "json"}},
		{"links-hidden", linked(t, func(r graph.Ref) bool { return r.Kind != "Service" }), []string{"table", "dot"}},
		{"pack-links", claimed(t), []string{"table", "wide", "color", "ascii"}},
		{"failing", failing(t), []string{"table", "terminal", "color", "json"}},
		{"hostile", hostile(), []string{"table", "wide", "dot", "mermaid", "names"}},
		{"empty", render.Tree{Graph: snapshot(nil), Now: now}, []string{"table", "dot", "mermaid", "names", "json"}},
	}
	for _, tt := range tests {
		for _, format := range tt.formats {
			t.Run(tt.name+"."+format, func(t *testing.T) {
				var got bytes.Buffer
				if err := formats[format](&got, tt.tree); err != nil {
					t.Fatal(err)
				}
				compareGolden(t, filepath.Join("testdata", tt.name+"."+format+".golden"), got.Bytes())
			})
		}
	}
}

func compareGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
