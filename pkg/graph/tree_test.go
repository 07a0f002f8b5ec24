package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// draw writes a tree as the tests below spell it: indented by two spaces, └ for the last row under
// its parent and ├ for the others, and what else a row says behind the name.
func draw(g *graph.Graph, rows []graph.Row) string {
	var b strings.Builder
	for _, r := range rows {
		mark := "├"
		if r.Last {
			mark = "└"
		}
		fmt.Fprintf(&b, "%s%s %s", strings.Repeat("  ", r.Indent), mark, g.Ref(r.ID).Name)
		switch r.Repeat {
		case graph.Elsewhere:
			b.WriteString(" elsewhere")
		case graph.Cycle:
			b.WriteString(" cycle")
		}
		if r.Hidden {
			b.WriteString(" hidden")
		}
		if r.Link != "" {
			fmt.Fprintf(&b, " by %s of %s", r.Link, g.Ref(r.LinkOwner).Name)
		}
		if r.Cut > 0 {
			fmt.Fprintf(&b, " +%d", r.Cut)
		}
		if r.Distance != r.Indent {
			fmt.Fprintf(&b, " at %d", r.Distance)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// shop is a small cluster: a deployment of two generations, a config map with two owners, and a
// secret two levels down.
func shop() *graph.Graph {
	return build(
		list(deployments, object("a", "web"), object("a", "api")),
		list(replicaSets, object("a", "web-1", ref(deployments, "web")), object("a", "web-2", ref(deployments, "web"))),
		list(pods, object("a", "web-1-x", ref(replicaSets, "web-1")), object("a", "web-2-x", ref(replicaSets, "web-2")),
			object("a", "web-2-y", ref(replicaSets, "web-2"))),
		list(configMaps, object("a", "shared", ref(replicaSets, "web-2"), ref(deployments, "api"))),
		list(secrets, object("a", "secret", ref(configMaps, "shared"))),
	)
}

func TestTree(t *testing.T) {
	hide := func(kinds ...string) func(*graph.Graph) func(graph.ID) bool {
		return func(g *graph.Graph) func(graph.ID) bool {
			return func(id graph.ID) bool { return !slices.Contains(kinds, g.Ref(id).Kind) }
		}
	}
	tests := []struct {
		name  string
		roots string
		opts  graph.TreeOptions
		show  func(*graph.Graph) func(graph.ID) bool
		want  string
	}{
		{"several owners: expanded once", "web api", graph.TreeOptions{Depth: -1}, nil, `
├ web
  ├ web-1
    └ web-1-x
  └ web-2
    ├ shared
      └ secret
    ├ web-2-x
    └ web-2-y
└ api
  └ shared elsewhere
`},
		{"the order of the roots is the caller's", "api web-1", graph.TreeOptions{Depth: -1}, nil, `
├ api
  └ shared
    └ secret
└ web-1
  └ web-1-x
`},
		{"a root below an earlier root is no second tree", "web web-2 web", graph.TreeOptions{Depth: -1}, nil, `
└ web
  ├ web-1
    └ web-1-x
  └ web-2
    ├ shared
      └ secret
    ├ web-2-x
    └ web-2-y
`},
		{"nor is one below a later root", "web-2 api web", graph.TreeOptions{Depth: -1}, nil, `
├ api
  └ shared
    └ secret
└ web
  ├ web-1
    └ web-1-x
  └ web-2
    ├ shared elsewhere
    ├ web-2-x
    └ web-2-y
`},
		{"depth", "web api", graph.TreeOptions{Depth: 1}, nil, `
├ web
  ├ web-1 +1
  └ web-2 +3
└ api
  └ shared +1
`},
		{"depth 0", "web web", graph.TreeOptions{Depth: 0}, nil, `
└ web +2
`},
		{"depth: what was cut is expanded where it is nearer", "web api", graph.TreeOptions{Depth: 2}, nil, `
├ web
  ├ web-1
    └ web-1-x
  └ web-2
    ├ shared +1
    ├ web-2-x
    └ web-2-y
└ api
  └ shared
    └ secret
`},
		{"depth: cut twice", "web-2 api", graph.TreeOptions{Depth: 1}, nil, `
├ web-2
  ├ shared +1
  ├ web-2-x
  └ web-2-y
└ api
  └ shared elsewhere
`},
		{"depth: a root that was cut above", "web web-1", graph.TreeOptions{Depth: 1}, nil, `
├ web
  ├ web-1 +1
  └ web-2 +3
└ web-1
  └ web-1-x
`},
		{"hidden rows lift what is below", "web api", graph.TreeOptions{Depth: -1}, hide("ReplicaSet"), `
├ web
  ├ web-1-x at 2
  ├ shared at 2
    └ secret at 3
  ├ web-2-x at 2
  └ web-2-y at 2
└ api
  └ shared elsewhere
`},
		{"what is below a hidden row with several owners is below each", "web api", graph.TreeOptions{Depth: -1}, hide("ReplicaSet", "ConfigMap"), `
├ web
  ├ web-1-x at 2
  ├ secret at 3
  ├ web-2-x at 2
  └ web-2-y at 2
└ api
  └ secret elsewhere at 2
`},
		{"several levels hidden", "web", graph.TreeOptions{Depth: -1}, hide("ReplicaSet", "ConfigMap", "Pod"), `
└ web
  └ secret at 3
`},
		{"a root is shown always", "web web-2", graph.TreeOptions{Depth: -1}, hide("Deployment", "ReplicaSet", "Pod"), `
└ web
  └ web-2
    └ shared
      └ secret
`},
		{"depth counts hidden rows", "web", graph.TreeOptions{Depth: 2}, hide("ReplicaSet"), `
└ web
  ├ web-1-x at 2
  ├ shared +1 at 2
  ├ web-2-x at 2
  └ web-2-y at 2
`},
		{"upwards", "secret web-1-x", graph.TreeOptions{Owners: true, Depth: -1}, nil, `
├ secret
  └ shared
    ├ web-2
      └ web
    └ api
└ web-1-x
  └ web-1
    └ web elsewhere
`},
		{"upwards with depth", "secret", graph.TreeOptions{Owners: true, Depth: 1}, nil, `
└ secret
  └ shared +2
`},
		{"upwards, hidden", "secret", graph.TreeOptions{Owners: true, Depth: -1}, hide("ConfigMap", "ReplicaSet"), `
└ secret
  ├ web at 3
  └ api at 2
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := shop()
			if tt.show != nil {
				tt.opts.Show = tt.show(g)
			}
			got := draw(g, g.Tree(nodes(t, g, strings.Fields(tt.roots)...), tt.opts))
			if want := tt.want[1:]; got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// TestTreeHidesRoots: what is below a hidden root has a tree of its own, once, and a root that is
// not hidden is one as always.
func TestTreeHidesRoots(t *testing.T) {
	tests := []struct{ name, hidden, roots, want string }{
		{"pods below a hidden root", "Deployment ReplicaSet ConfigMap Secret", "api web", `
├ web-1-x at 2
├ web-2-x at 2
└ web-2-y at 2
`},
		{"below two hidden roots", "Deployment", "api web", `
├ shared at 1
  └ secret at 2
├ web-1 at 1
  └ web-1-x at 2
└ web-2 at 1
  ├ shared elsewhere at 2
  ├ web-2-x at 2
  └ web-2-y at 2
`},
		{"below a hidden root and one that is shown", "ReplicaSet", "web-2 api", `
├ shared at 1
  └ secret at 2
├ web-2-x at 1
├ web-2-y at 1
└ api
  └ shared elsewhere
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := shop()
			show := func(id graph.ID) bool { return !slices.Contains(strings.Fields(tt.hidden), g.Ref(id).Kind) }
			got := draw(g, g.Tree(nodes(t, g, strings.Fields(tt.roots)...),
				graph.TreeOptions{Depth: -1, Show: show, HideRoots: true}))
			if want := tt.want[1:]; got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// hub is a config map that owners own and that owns dependents.
func hub(owners, dependents int) *graph.Graph {
	var maps, all []graph.Object
	var refs []graph.OwnerReference
	for i := range owners {
		name := fmt.Sprintf("owner-%05d", i)
		all = append(all, object("a", name))
		refs = append(refs, ref(secrets, name))
	}
	maps = append(maps, object("a", "hub", refs...))
	var below []graph.Object
	for i := range dependents {
		below = append(below, object("a", fmt.Sprintf("dependent-%05d", i), ref(configMaps, "hub")))
	}
	return build(list(secrets, all...), list(configMaps, maps...), list(pods, below...))
}

// withoutConfigMaps hides the hub.
func withoutConfigMaps(g *graph.Graph) graph.TreeOptions {
	return graph.TreeOptions{Depth: -1, HideRoots: true,
		Show: func(id graph.ID) bool { return g.Ref(id).Kind != "ConfigMap" }}
}

// TestTreeOfAHiddenHub: what is below it is shown in its place under some of its owners, and under
// the others it is said that it is above. Nothing is said where there is nothing below.
func TestTreeOfAHiddenHub(t *testing.T) {
	g := hub(6, 2)
	want := ""
	for i := range 6 {
		mark := "├"
		if i == 5 {
			mark = "└"
		}
		want += fmt.Sprintf("%s owner-%05d\n", mark, i)
		switch {
		case i == 0:
			want += "  ├ dependent-00000 at 2\n  └ dependent-00001 at 2\n"
		case i < 4:
			want += "  ├ dependent-00000 elsewhere at 2\n  └ dependent-00001 elsewhere at 2\n"
		default:
			want += "  └ hub elsewhere hidden\n"
		}
	}
	if got := draw(g, g.Tree(g.Roots(), withoutConfigMaps(g))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	hidden := make([]bool, g.Len())
	hidden[node(t, g, "hub")] = true
	checkNothingCut(t, g, g.Roots(), withoutConfigMaps(g), hidden)
	g = hub(6, 0)
	if rows := g.Tree(g.Roots(), withoutConfigMaps(g)); len(rows) != 6 {
		t.Errorf("a hub without dependents:\n%s", draw(g, rows))
	}
	g = hub(500, 500)
	if rows := g.Tree(g.Roots(), withoutConfigMaps(g)); len(rows) > 4_000 {
		t.Errorf("%d rows for 1,001 objects with 1,000 references", len(rows))
	}
}

// TestTreeVia: a row carries the reference that leads to it, the first of several.
func TestTreeVia(t *testing.T) {
	first := graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "map", UID: "uid-map", Controller: true}
	second := graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "renamed", UID: "uid-map", Block: true}
	g := build(list(pods, object("a", "pod", first, second)), list(configMaps, object("a", "map")))
	for _, opts := range []graph.TreeOptions{{Depth: -1}, {Depth: -1, Owners: true}} {
		root := "map"
		if opts.Owners {
			root = "pod"
		}
		rows := g.Tree(nodes(t, g, root), opts)
		if len(rows) != 2 {
			t.Fatalf("%d rows, want 2", len(rows))
		}
		want := graph.Via{Owner: node(t, g, "map"), Dependent: node(t, g, "pod"), Controller: true}
		if rows[1].Via != want {
			t.Errorf("via %+v, want %+v", rows[1].Via, want)
		}
		if !rows[0].Root || rows[1].Root || rows[0].Via != (graph.Via{}) {
			t.Errorf("the root is not told from the others: %+v", rows)
		}
	}
}

// TestTreeRoots: a row says of every node that was asked for that it was.
func TestTreeRoots(t *testing.T) {
	g := shop()
	var roots []graph.ID
	for _, row := range g.Tree(nodes(t, g, "web-2", "web", "secret"), graph.TreeOptions{Depth: -1}) {
		if row.Root {
			roots = append(roots, row.ID)
		}
	}
	if got, want := names(g, roots), "web web-2 secret"; got != want {
		t.Errorf("roots %q, want %q", got, want)
	}
}

// TestTreeRootsOfCycles: a root that is its own ancestor is no reason to show what is below it
// first.
func TestTreeRootsOfCycles(t *testing.T) {
	g := build(list(configMaps, object("a", "x", ref(configMaps, "y")), object("a", "y", ref(configMaps, "x")),
		object("a", "z", ref(configMaps, "y"))))
	for roots, want := range map[string]string{
		"z x":   "└ x\n  └ y\n    ├ x cycle\n    └ z\n",
		"z y x": "└ y\n  ├ x\n    └ y cycle\n  └ z\n",
	} {
		if got := draw(g, g.Tree(nodes(t, g, strings.Fields(roots)...), graph.TreeOptions{Depth: -1})); got != want {
			t.Errorf("%s: got\n%swant\n%s", roots, got, want)
		}
	}
}

// TestTreeVirtual: owners that were not seen are rows, as roots downwards and at the end upwards.
func TestTreeVirtual(t *testing.T) {
	g := build(list(pods, object("a", "pod", ref(configMaps, "gone"), ref(deployments, "web"))),
		list(deployments, object("a", "web")))
	if got, want := draw(g, g.Tree(g.Roots(), graph.TreeOptions{Depth: -1})),
		"├ gone\n  └ pod\n└ web\n  └ pod elsewhere\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := draw(g, g.Tree(nodes(t, g, "pod"), graph.TreeOptions{Depth: -1, Owners: true})),
		"└ pod\n  ├ gone\n  └ web\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestTreeCycles: GC-064, GC-065. The walk ends where it would go round.
func TestTreeCycles(t *testing.T) {
	tests := []struct {
		name, root, want string
		owners           bool
		objects          []graph.Object
	}{
		{"two", "one", "└ one\n  └ two\n    └ one cycle\n", false, []graph.Object{
			object("a", "one", ref(configMaps, "two")), object("a", "two", ref(configMaps, "one"))}},
		{"self (GC-064)", "one", "└ one\n  └ one cycle\n", false, []graph.Object{object("a", "one", ref(configMaps, "one"))}},
		{"entered from outside", "root", "└ root\n  └ one\n    └ two\n      ├ leaf\n      └ one cycle\n", false,
			[]graph.Object{
				object("a", "root"), object("a", "one", ref(configMaps, "root"), ref(configMaps, "two")),
				object("a", "two", ref(configMaps, "one")), object("a", "leaf", ref(configMaps, "two"))}},
		{"upwards", "leaf", "└ leaf\n  └ two\n    └ one\n      └ two cycle\n", true, []graph.Object{
			object("a", "one", ref(configMaps, "two")), object("a", "two", ref(configMaps, "one")),
			object("a", "leaf", ref(configMaps, "two"))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := build(list(configMaps, tt.objects...))
			got := draw(g, g.Tree(nodes(t, g, tt.root), graph.TreeOptions{Depth: -1, Owners: tt.owners}))
			if got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestTreeHiddenCycle: hidden members of a cycle are passed once under each row.
func TestTreeHiddenCycle(t *testing.T) {
	g := build(list(configMaps,
		object("a", "root"), object("a", "one", ref(configMaps, "root"), ref(configMaps, "two"), ref(configMaps, "one")),
		object("a", "two", ref(configMaps, "one")),
		object("a", "leaf", ref(configMaps, "one")), object("a", "tail", ref(configMaps, "two"))))
	tests := []struct{ hidden, want string }{
		{"one two", "└ root\n  ├ leaf at 2\n  └ tail at 3\n"},
		{"one", "└ root\n  ├ leaf at 2\n  └ two at 2\n    ├ leaf elsewhere at 4\n    ├ two cycle at 4\n    └ tail at 3\n"},
	}
	for _, tt := range tests {
		show := func(id graph.ID) bool { return !slices.Contains(strings.Fields(tt.hidden), g.Ref(id).Name) }
		got := draw(g, g.Tree(nodes(t, g, "root"), graph.TreeOptions{Depth: -1, Show: show}))
		if got != tt.want {
			t.Errorf("hidden %s: got\n%swant\n%s", tt.hidden, got, tt.want)
		}
	}
}

// TestTreeLinks: links are followed below the references, where none says the same, and are not
// upwards.
func TestTreeLinks(t *testing.T) {
	g := build(
		list(namespaces, object("", "space")), list(deployments, object("a", "web")),
		list(pods, object("a", "pod", ref(deployments, "web"), ref(namespaces, "space"))),
		list(secrets, object("a", "secret")),
	)
	space := node(t, g, "space")
	content := nodes(t, g, "secret", "web", "pod")
	links := func(id graph.ID) []graph.Link {
		if id != space {
			return nil
		}
		var all []graph.Link
		for _, dependent := range content {
			all = append(all, graph.Link{Owner: space, Dependent: dependent, Rule: "namespace"})
		}
		return all
	}
	upwards := func(id graph.ID) []graph.Link {
		if !slices.Contains(content, id) {
			return nil
		}
		return []graph.Link{{Owner: space, Dependent: id, Rule: "namespace"}}
	}
	tests := []struct {
		name, root, want string
		opts             graph.TreeOptions
	}{
		{"downwards", "space", `
└ space
  ├ pod
  ├ secret by namespace of space
  └ web by namespace of space
    └ pod elsewhere
`, graph.TreeOptions{Depth: -1}},
		{"cut", "space", "\n└ space +3\n", graph.TreeOptions{}},
		{"upwards, where a reference says more", "pod",
			"\n└ pod\n  ├ web\n    └ space by namespace of space\n  └ space elsewhere\n",
			graph.TreeOptions{Depth: -1, Owners: true}},
		{"upwards", "secret", "\n└ secret\n  └ space by namespace of space\n", graph.TreeOptions{Depth: -1, Owners: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.opts.Links = links; tt.opts.Owners {
				tt.opts.Links = upwards
			}
			if got, want := draw(g, g.Tree(nodes(t, g, tt.root), tt.opts)), tt.want[1:]; got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}
