package render_test

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/test/linear"
)

// measure measures what is written of a tree of n objects, and of four times as many.
func measure(b *testing.B, make func(n int) render.Tree, write func(render.Tree) error) {
	linear.Bench(b, 5_000, func(b *testing.B, n int) func() {
		tree := make(n)
		return func() {
			if err := write(tree); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func hubOfHalf(n int) render.Tree { return hub(n / 2) }

func table(t render.Tree) error { return render.TreeTable(io.Discard, t, render.Style{}) }

// BenchmarkLinearTableOfAChain writes a chain of owners, which is drawn down to a level.
func BenchmarkLinearTableOfAChain(b *testing.B) { measure(b, chain, table) }

// BenchmarkLinearTableOfAHiddenHub writes the owners and the dependents of an object that is
// hidden.
func BenchmarkLinearTableOfAHiddenHub(b *testing.B) { measure(b, hubOfHalf, table) }

// BenchmarkLinearObjectOfAChain makes what -o json prints of a chain.
func BenchmarkLinearObjectOfAChain(b *testing.B) {
	measure(b, chain, func(t render.Tree) error {
		if nodes := printedTree(t).Nodes; len(nodes) != len(t.Rows) {
			return fmt.Errorf("%d nodes", len(nodes))
		}
		return nil
	})
}

// BenchmarkLinearDOTOfAChain writes a chain for Graphviz.
func BenchmarkLinearDOTOfAChain(b *testing.B) {
	measure(b, chain, func(t render.Tree) error { return render.TreeDOT(io.Discard, t) })
}

// BenchmarkLinearDOTOfAHiddenHub writes a hidden object's owners and dependents for Graphviz.
func BenchmarkLinearDOTOfAHiddenHub(b *testing.B) {
	measure(b, hubOfHalf, func(t render.Tree) error { return render.TreeDOT(io.Discard, t) })
}

// BenchmarkLinearPlanTableOfAChain writes the whole plan of a deletion that takes a chain along.
func BenchmarkLinearPlanTableOfAChain(b *testing.B) {
	plans := map[*graph.Graph]*plan.Plan{}
	measure(b, func(n int) render.Tree {
		t := chain(n)
		plans[t.Graph] = plan.New(t.Graph, t.Graph.Roots(), plan.Background, plan.Options{})
		return t
	}, func(t render.Tree) error {
		return render.PlanTable(io.Discard, render.Plan{Plan: plans[t.Graph], Rows: slices.Values(t.Rows)},
			render.Style{Wide: true})
	})
}
