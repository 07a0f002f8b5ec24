package graph_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// eachSeed runs a test on many random clusters; a seed that fails is in the name of the subtest, to
// be run again by it.
func eachSeed(t *testing.T, f func(*testing.T, []listing, *rand.Rand)) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			f(t, randomListings(seed), rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

// TestRandomGraphs holds random graphs against what is true of every graph and against the model.
func TestRandomGraphs(t *testing.T) {
	eachSeed(t, func(t *testing.T, listings []listing, _ *rand.Rand) {
		g := build(listings...)
		checkGraph(t, g)
		newModel(listings).check(t, g)
	})
}

// TestRandomOrder: lists run side by side and arrive in any order. The graph is the same.
func TestRandomOrder(t *testing.T) {
	eachSeed(t, func(t *testing.T, listings []listing, r *rand.Rand) {
		want := dump(build(listings...))
		r.Shuffle(len(listings), func(i, j int) { listings[i], listings[j] = listings[j], listings[i] })
		for _, l := range listings {
			r.Shuffle(len(l.objects), func(i, j int) { l.objects[i], l.objects[j] = l.objects[j], l.objects[i] })
		}
		if got := dump(build(listings...)); got != want {
			t.Errorf("the order decides:\n%s", firstDifference(want, got))
		}
	})
}

// TestRandomInterleaving: every list is added by a goroutine of its own, object by object.
func TestRandomInterleaving(t *testing.T) {
	eachSeed(t, func(t *testing.T, listings []listing, _ *rand.Rand) {
		want := dump(build(listings...))
		b := newBuilder()
		start := make(chan struct{})
		var adders sync.WaitGroup
		for _, l := range listings {
			adders.Go(func() {
				<-start
				begun := b.Listing(l.Type, l.scope)
				for _, o := range l.objects {
					begun.Add(o)
				}
				switch l.outcome {
				case complete:
					begun.Complete()
				case discarded:
					begun.Discard()
				}
			})
		}
		close(start)
		adders.Wait()
		if got := dump(b.Build()); got != want {
			t.Errorf("the interleaving decides:\n%s", firstDifference(want, got))
		}
	})
}

// TestRandomTrees: hidden rows cut nothing, and with a bound on the depth no row lies below it.
func TestRandomTrees(t *testing.T) {
	eachSeed(t, func(t *testing.T, listings []listing, r *rand.Rand) {
		g := build(listings...)
		hidden := make([]bool, g.Len())
		var roots []graph.ID
		for i := range hidden {
			hidden[i] = r.IntN(3) == 0
			if r.IntN(6) == 0 {
				roots = append(roots, graph.ID(i))
			}
		}
		for _, owners := range []bool{false, true} {
			depth := r.IntN(4)
			opts := graph.TreeOptions{Depth: -1, Owners: owners, Show: func(id graph.ID) bool { return !hidden[id] }}
			checkShown(t, g, roots, opts, hidden)
			checkNothingCut(t, g, roots, opts, hidden)
			opts.HideRoots = true
			checkShown(t, g, roots, opts, hidden)
			checkNothingCut(t, g, roots, opts, hidden)
			checkShown(t, g, g.Roots(), graph.TreeOptions{Depth: -1, HideRoots: true, Show: opts.Show}, hidden)
			opts.HideRoots = false
			checkDepth(t, g, roots, graph.TreeOptions{Depth: depth, Owners: owners, Show: opts.Show})
			checkDepth(t, g, roots, graph.TreeOptions{Depth: depth, Owners: owners})
		}
	})
}

// checkShown: the rows are the roots and all that can be reached from them and is not hidden, each
// expanded once, and no tree is below another.
func checkShown(t *testing.T, g *graph.Graph, roots []graph.ID, opts graph.TreeOptions, hidden []bool) {
	t.Helper()
	want := make([]bool, g.Len())
	for _, root := range roots {
		below := reachable(g, root)
		if opts.Owners {
			below = g.Related(func(id graph.ID) bool { return id == root })
			for id, down := range reachable(g, root) {
				up := reachable(g, graph.ID(id))[root]
				below[id] = below[id] && (!down || up)
			}
		}
		for id, is := range below {
			want[id] = want[id] || is && !hidden[id]
		}
	}
	for _, root := range roots {
		want[root] = !opts.HideRoots || !hidden[root]
	}
	got := make([]bool, g.Len())
	var trees []graph.ID
	for _, row := range g.Tree(roots, opts) {
		if row.Indent == 0 {
			trees = append(trees, row.ID)
		}
		if row.Hidden {
			continue
		}
		if row.Repeat == graph.First {
			if got[row.ID] {
				t.Errorf("node %d is expanded twice", row.ID)
			}
			got[row.ID] = true
		} else if !got[row.ID] {
			t.Errorf("node %d is marked as shown above, and is not", row.ID)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("roots %v, owners %v: shown are %v, want %v", roots, opts.Owners, got, want)
	}
	// what is below a hidden root has a tree of its own, even if a shown root that comes later owns
	// it too
	if opts.HideRoots {
		return
	}
	for _, id := range trees {
		below := reachable(g, id)
		for _, other := range trees {
			if id != other && (below[other] && !opts.Owners || reachable(g, other)[id] && opts.Owners) {
				t.Errorf("roots %v, owners %v: node %d has a tree of its own and is below node %d", roots, opts.Owners, other, id)
			}
		}
	}
}

// checkNothingCut: directly under an expanded row stands all that is reached from it by way of
// hidden nodes only, or a hidden node by way of which it is.
func checkNothingCut(t *testing.T, g *graph.Graph, roots []graph.ID, opts graph.TreeOptions, hidden []bool) {
	t.Helper()
	below := map[graph.ID]map[graph.ID]bool{}
	var path []graph.Row
	for _, row := range g.Tree(roots, opts) {
		path = append(path[:row.Indent], row)
		if row.Indent > 0 {
			below[path[row.Indent-1].ID][row.ID] = true
		}
		if row.Repeat == graph.First {
			below[row.ID] = map[graph.ID]bool{}
		}
	}
	shown := func(id graph.ID) bool { return !hidden[id] || !opts.HideRoots && slices.Contains(roots, id) }
	next := func(id graph.ID) map[graph.ID]bool {
		want, passed := map[graph.ID]bool{}, map[graph.ID]bool{}
		queue := []graph.ID{id}
		for len(queue) > 0 {
			from := queue[0]
			queue = queue[1:]
			edges, far := g.Dependents(from), func(e graph.Edge) graph.ID { return e.Dependent }
			if opts.Owners {
				edges, far = g.Owners(from), func(e graph.Edge) graph.ID { return e.Owner }
			}
			for e := range edges {
				switch next := far(e); {
				case shown(next):
					want[next] = true
				case !passed[next]:
					passed[next] = true
					queue = append(queue, next)
				}
			}
		}
		return want
	}
	for id, got := range below {
		want := next(id)
		for stands := range maps.Clone(got) {
			if !shown(stands) {
				delete(got, stands)
				maps.Copy(got, next(stands))
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("roots %v, owners %v: under node %d stand %v, want %v", roots, opts.Owners, id, got, want)
		}
	}
}

func checkDepth(t *testing.T, g *graph.Graph, roots []graph.ID, opts graph.TreeOptions) {
	t.Helper()
	marks := map[graph.ID]int{}
	for i, row := range g.Tree(roots, opts) {
		if row.Distance > opts.Depth || row.Indent > row.Distance || i == 0 && !row.Root {
			t.Errorf("depth %d: row %d has distance %d and indent %d", opts.Depth, i, row.Distance, row.Indent)
		}
		if row.Cut > 0 && row.Distance != opts.Depth {
			t.Errorf("depth %d: row %d is cut at distance %d", opts.Depth, i, row.Distance)
		}
		if row.Repeat == graph.First {
			marks[row.ID]++
		}
		// Once where it was cut, and once more if it is expanded nearer to a root.
		if marks[row.ID] > 2 {
			t.Errorf("depth %d: node %d is shown %d times without a mark", opts.Depth, row.ID, marks[row.ID])
		}
	}
}
