package encode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// indent is that of cli-runtime's JSON printer.
const indent = "    "

// TreeJSON writes what the JSON printer of cli-runtime would of a Tree, and holds few objects at a time: a whole cluster has a hundred thousand.
func TreeJSON(w io.Writer, t render.Tree, gaps []v1alpha1.Gap) error {
	text, err := json.MarshalIndent(emptyTree(gaps), "", indent)
	if err != nil {
		return err
	}
	head, whole := bytes.CutSuffix(text, []byte("[]\n}"))
	if !whole {
		return fmt.Errorf("a tree without objects ends in %q", text[max(0, len(text)-10):])
	}
	out := bufio.NewWriter(w)
	_, _ = out.Write(head) // a writer that fails says so at the end
	between, end := "[\n"+indent+indent, "[]\n}\n"
	err = inOrder(nodes(t), func(n v1alpha1.TreeNode) ([]byte, error) {
		return json.MarshalIndent(n, indent+indent, indent)
	}, func(text []byte) error {
		_, _ = out.WriteString(between)
		between, end = ",\n"+indent+indent, "\n"+indent+"]\n}\n"
		_, err := out.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	_, _ = out.WriteString(end)
	return out.Flush()
}

// atOnce is how many objects are encoded in one go.
const atOnce = 256

// inOrder encodes what comes with all processors, and writes it in the order in which it came. It holds some hundred texts for each processor.
func inOrder[T any](all iter.Seq[T], encode func(T) ([]byte, error), write func([]byte) error) error {
	type batch struct {
		items []T
		texts [][]byte
		done  chan error
	}
	begun := make(chan *batch, runtime.GOMAXPROCS(0)) // which bounds how many are encoded at a time
	failed := make(chan error, 1)
	go func() {
		var first error
		for b := range begun {
			if err := <-b.done; first == nil {
				first = err
			}
			for _, text := range b.texts {
				if first == nil {
					first = write(text)
				}
			}
		}
		failed <- first
	}()
	begin := func(items []T) {
		b := &batch{items: items, done: make(chan error, 1)}
		begun <- b
		go func() {
			for _, item := range b.items {
				text, err := encode(item)
				if err != nil {
					b.done <- err
					return
				}
				b.texts = append(b.texts, text)
			}
			b.done <- nil
		}()
	}
	var items []T
	for item := range all {
		if items = append(items, item); len(items) == atOnce {
			begin(items)
			items = nil
		}
	}
	begin(items)
	close(begun)
	return <-failed
}
