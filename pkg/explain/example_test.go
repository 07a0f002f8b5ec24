package explain_test

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

func ExampleKnown() {
	packs, err := plugins.Packs()
	if err != nil {
		fmt.Println(err)
		return
	}
	known, err := finalizer.Load(packs)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := explain.Known(explain.Question{Known: known, Names: []string{"karpenter.sh/termination"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range e.Finalizers {
		fmt.Println(f.Component, f.Risk)
	}
	// Output:
	// Karpenter leaks-external
}
