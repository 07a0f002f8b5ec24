package render_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// chain is a tree of n config maps, each of which owns the next.
func chain(n int) render.Tree {
	objects := []graph.Object{object("shop", "c00000", time.Hour)}
	for i := 1; i < n; i++ {
		objects = append(objects, object("shop", fmt.Sprintf("c%05d", i), time.Hour,
			ref(configMaps, fmt.Sprintf("c%05d", i-1))))
	}
	g := snapshot(map[graph.Type][]graph.Object{configMaps: objects})
	return render.Tree{Graph: g, Rows: g.Tree(g.Roots(), graph.TreeOptions{Depth: -1}), Now: now}
}

// lastLines returns the last lines of a text with the columns one space apart.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// TestDeepTreeIsDrawnAsFarAsATerminalHoldsIt: a table ends at a level and says what lies deeper;
// what programs read has everything.
func TestDeepTreeIsDrawnAsFarAsATerminalHoldsIt(t *testing.T) {
	t.Parallel()
	deep := chain(12_000)
	up := chain(100)
	id, _ := up.Graph.Lookup("uid-c00099")
	up.Rows = up.Graph.Tree([]graph.ID{id}, graph.TreeOptions{Depth: -1, Owners: true})
	var planned plan.Plan
	root, _ := deep.Graph.Lookup("uid-c00000")
	planned = *plan.New(deep.Graph, []graph.ID{root}, plan.Background, plan.Options{})
	tests := map[string]struct {
		write func(io.Writer) error
		lines int
		end   string
	}{
		"to a file": {func(w io.Writer) error { return render.TreeTable(w, deep, render.Style{}) }, 63, "" +
			"shop └─ConfigMap/c00059 Active - - 60m\n└─… 11940 more objects lie deeper\n" +
			"11940 objects lie deeper than 60 levels; -o json has all of it; what is below the first of them: kubectl gc tree configmaps/c00059 -n shop"},
		"to a terminal": {func(w io.Writer) error { return render.TreeTable(w, deep, render.Style{Width: 80}) }, 19, "" +
			"shop └─ConfigMap/c00012 Active -\n└─… 11987 more…\n" +
			"(the terminal is too narrow for the columns AGE and READY: -o wide shows them)\n" +
			"11987 objects lie deeper than 13 levels; -o json has all of it; what is below\nthe first of them:\n" +
			"kubectl gc tree configmaps/c00012 -n shop"},
		"to a narrow terminal": {func(w io.Writer) error { return render.TreeTable(w, chain(9), render.Style{Width: 50}) },
			15, "" +
				"shop └─Con…gMap/c00007 Active\n└─… 1 more…\n" +
				"(the terminal is too narrow for the columns AGE,\nREADY and FINALIZERS: -o wide shows them)\n" +
				"1 object lies deeper than 8 levels; -o json has\nall of it; what is below the first of them:\n" +
				"kubectl gc tree configmaps/c00007 -n shop"},
		"no deeper than that": {func(w io.Writer) error { return render.TreeTable(w, chain(60), render.Style{}) }, 61,
			"shop └─ConfigMap/c00059 Active - - 60m"},
		"upwards": {func(w io.Writer) error { return render.TreeTable(w, up, render.Style{}) }, 63, "" +
			"shop └─ConfigMap/c00040 Active - - 60m\n└─… 40 more objects lie deeper\n" +
			"40 objects lie deeper than 60 levels; -o json has all of it; what is below the first of them: kubectl gc tree configmaps/c00040 -n shop --owners"},
		"a plan": {func(w io.Writer) error {
			return render.PlanTable(w, render.Plan{Plan: &planned, Rows: slices.Values(deep.Rows)}, render.Style{Wide: true})
		}, 64, "└─… 11940 more objects lie deeper\n" +
			"11940 objects lie deeper than 60 levels; -o json has all of it; what is below the first of them: kubectl gc tree configmaps/c00059 -n shop\n" +
			"deletes 12000 objects of 1 kind in 12000 waves"},
		"names": {func(w io.Writer) error { return render.RowNames(w, deep.Graph, slices.Values(deep.Rows)) }, 12_000,
			"configmap/c11999"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := tt.write(&out); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(out.String(), "\n"); n != tt.lines {
				t.Errorf("%d lines, want %d", n, tt.lines)
			}
			if diff := cmp.Diff(tt.end, lastLines(out.String(), strings.Count(tt.end, "\n")+1)); diff != "" {
				t.Errorf("the end (-want +got):\n%s", diff)
			}
		})
	}
	if nodes := printedTree(deep).Nodes; len(nodes) != 12_000 || nodes[11_999].Depth != 11_999 {
		t.Errorf("-o json has %d nodes", len(nodes))
	}
}

// TestTheFooterOfADeepTreeCanBePasted: the object that it names may be called anything, and an
// owner of a kind that no server has is not named.
func TestTheFooterOfADeepTreeCanBePasted(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"x;touch hacked":   "kubectl gc tree 'configmaps/x;touch hacked' -n shop",
		"--server=evil":    "kubectl gc tree configmaps/--server=evil -n shop",
		"\x1b$(reboot)'\n": `kubectl gc tree 'configmaps/^[$(reboot)'\''\n' -n shop`,
	} {
		objects := []graph.Object{object("shop", "c0", time.Hour)}
		last := "c0"
		for i := 1; i < 10; i++ {
			this := fmt.Sprintf("c%d", i)
			if i == 7 {
				this = name
			}
			objects = append(objects, object("shop", this, time.Hour, ref(configMaps, last)))
			last = this
		}
		g := snapshot(map[graph.Type][]graph.Object{configMaps: objects})
		var out strings.Builder
		if err := render.TreeTable(&out,
			render.Tree{Graph: g, Rows: g.Tree(g.Roots(), graph.TreeOptions{Depth: -1}), Now: now},
			render.Style{Width: 20}); err != nil {
			t.Fatal(err)
		}
		if got := lastLines(out.String(), 1); !strings.Contains(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestWhatIsExpandedTooDeepIsNotSaidToBeShown: an object whose dependents are not drawn where they
// are expanded is not "shown above" elsewhere, and is counted once.
func TestWhatIsExpandedTooDeepIsNotSaidToBeShown(t *testing.T) {
	t.Parallel()
	objects := []graph.Object{object("shop", "c0", time.Hour), object("shop", "z", time.Hour)}
	for i := 1; i < 12; i++ {
		objects = append(objects, object("shop", fmt.Sprintf("c%d", i), time.Hour, ref(configMaps, fmt.Sprintf("c%d", i-1))))
	}
	objects[11].Owners = append(objects[11].Owners, ref(configMaps, "z"))
	objects = append(objects, object("shop", "c10-b", time.Hour, ref(configMaps, "c10")),
		object("shop", "y", time.Hour, ref(configMaps, "c7")))
	g := snapshot(map[graph.Type][]graph.Object{configMaps: objects})
	tree := render.Tree{Graph: g, Rows: g.Tree(g.Roots(), graph.TreeOptions{Depth: -1}), Now: now}
	var out strings.Builder
	if err := render.TreeTable(&out, tree, render.Style{Width: 53}); err != nil {
		t.Fatal(err)
	}
	want := `shop └─ConfigMap/c7 Active
└─… 6 more…
shop ConfigMap/z Active
shop └─ConfigMap/c10 (expanded… Active
(the terminal is too narrow for the columns AGE,
READY and FINALIZERS: -o wide shows them)
6 objects lie deeper than 8 levels; -o json has all
of it; what is below the first of them:
kubectl gc tree configmaps/c7 -n shop`
	if got := lastLines(out.String(), 9); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestHiddenHub: a row that stands for what is below a hidden object says so in a table, has no
// node of its own in -o json and no line in -o name, and keeps the edges in a graph.
func TestHiddenHub(t *testing.T) {
	t.Parallel()
	tree := hub(6)
	for name, tt := range map[string]struct {
		write func(io.Writer, render.Tree) error
		want  map[string]int
	}{
		"table": {func(w io.Writer, t render.Tree) error { return render.TreeTable(w, t, render.Style{}) }, map[string]int{
			"ConfigMap/hub (hidden, expanded above)": 2, "Secret": 0, "Pod/dependent-00000 (shown above)": 3,
			"Pod/dependent-00000 ": 4}},
		"names": {func(w io.Writer, t render.Tree) error { return render.RowNames(w, t.Graph, slices.Values(t.Rows)) },
			map[string]int{"configmap/hub": 0, "pod/dependent-00005\n": 1}},
		"dot":     {render.TreeDOT, map[string]int{"ConfigMap/hub": 1, "->": 6 + 6 + 4*6}},
		"mermaid": {render.TreeMermaid, map[string]int{"ConfigMap/hub": 1}},
	} {
		var out strings.Builder
		if err := tt.write(&out, tree); err != nil {
			t.Fatal(err)
		}
		for text, n := range tt.want {
			if got := strings.Count(out.String(), text); got != n {
				t.Errorf("%s: %q %d times, want %d:\n%s", name, text, got, n, &out)
			}
		}
	}
	if nodes := printedTree(tree).Nodes; len(nodes) != 12 {
		t.Errorf("-o json has %d nodes", len(nodes))
	}
}

// hub is the tree of n deployments that own a config map, which is hidden and owns as many pods.
func hub(n int) render.Tree {
	objects := map[graph.Type][]graph.Object{}
	var owners []graph.OwnerReference
	for i := range n {
		name := fmt.Sprintf("owner-%05d", i)
		objects[deployments] = append(objects[deployments], object("shop", name, time.Hour))
		owners = append(owners, ref(deployments, name))
		objects[pods] = append(objects[pods],
			object("shop", fmt.Sprintf("dependent-%05d", i), time.Hour, ref(configMaps, "hub")))
	}
	objects[configMaps] = []graph.Object{object("shop", "hub", time.Hour, owners...)}
	g := snapshot(objects)
	show := func(id graph.ID) bool { return g.Ref(id).Kind != "ConfigMap" }
	return render.Tree{Graph: g, Rows: g.Tree(g.Roots(), graph.TreeOptions{Depth: -1, Show: show, HideRoots: true}),
		Now: now}
}

// TestALongPlanSaysHowToSeeAllOfIt: it is counted, and wide it is not.
func TestALongPlanSaysHowToSeeAllOfIt(t *testing.T) {
	t.Parallel()
	tree := chain(61)
	root, _ := tree.Graph.Lookup("uid-c00000")
	p := render.Plan{Plan: plan.New(tree.Graph, []graph.ID{root}, plan.Background, plan.Options{}),
		Rows: slices.Values(tree.Rows)}
	for wide, want := range map[bool]string{
		false: "\n(there are many objects, so they are counted: -o wide shows each of them)\ndeletes 61 objects",
		true:  "ConfigMap/c00059 ",
	} {
		var out strings.Builder
		if err := render.PlanTable(&out, p, render.Style{Wide: wide}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("wide %t: %v\n%s\nwant %q", wide, err, out.String(), want)
		}
	}
}
