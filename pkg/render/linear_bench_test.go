package render_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// The benchmarks by the name of Linear run with n and four times n objects; what takes more than about four times as long with the latter grows with more
// than the number of objects.
func linear(b *testing.B, make func(n int) render.Tree, write func(render.Tree) error) {
	for _, n := range []int{5_000, 20_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			tree := make(n)
			for b.Loop() {
				if err := write(tree); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func hubOfHalf(n int) render.Tree { return hub(n / 2) }

func table(t render.Tree) error { return render.TreeTable(io.Discard, t, render.Style{}) }

// BenchmarkLinearTableOfAChain writes a chain of owners, which is drawn down to a level.
func BenchmarkLinearTableOfAChain(b *testing.B) { linear(b, chain, table) }

// BenchmarkLinearTableOfAHiddenHub writes the owners and the dependents of an object that is hidden.
func BenchmarkLinearTableOfAHiddenHub(b *testing.B) { linear(b, hubOfHalf, table) }

// BenchmarkLinearObjectOfAChain makes what -o json prints of a chain.
func BenchmarkLinearObjectOfAChain(b *testing.B) {
	linear(b, chain, func(t render.Tree) error {
		if nodes := render.TreeObject(t, nil).Nodes; len(nodes) != len(t.Rows) {
			return fmt.Errorf("%d nodes", len(nodes))
		}
		return nil
	})
}

// BenchmarkLinearDOTOfAChain writes a chain for Graphviz.
func BenchmarkLinearDOTOfAChain(b *testing.B) {
	linear(b, chain, func(t render.Tree) error { return render.TreeDOT(io.Discard, t) })
}

// BenchmarkLinearDOTOfAHiddenHub writes a hidden object's owners and dependents for Graphviz.
func BenchmarkLinearDOTOfAHiddenHub(b *testing.B) {
	linear(b, hubOfHalf, func(t render.Tree) error { return render.TreeDOT(io.Discard, t) })
}

// BenchmarkLinearPlanTableOfAChain writes the whole plan of a deletion that takes a chain along.
func BenchmarkLinearPlanTableOfAChain(b *testing.B) {
	plans := map[*graph.Graph]*plan.Plan{}
	linear(b, func(n int) render.Tree {
		t := chain(n)
		plans[t.Graph] = plan.New(t.Graph, t.Graph.Roots(), plan.Background, plan.Options{})
		return t
	}, func(t render.Tree) error {
		return render.PlanTable(io.Discard, render.Plan{Plan: plans[t.Graph], Rows: t.Rows}, render.Style{Wide: true})
	})
}
