package tree

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// indent is that of cli-runtime's JSON printer.
const indent = "    "

// WriteJSON writes what the JSON printer of cli-runtime would of the tree, and holds few objects at a
// time: a whole cluster has a hundred thousand.
func (s *Snapshot) WriteJSON(w io.Writer) error {
	text, err := json.MarshalIndent(s.empty(), "", indent)
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
	err = inOrder(s.nodes(), func(n v1alpha1.TreeNode) ([]byte, error) {
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

// share is how many objects one processor encodes at a time.
const share = 256

// inOrder encodes what comes with all processors, and writes it in the order in which it came. It
// holds a share of texts for each processor.
func inOrder[T any](all iter.Seq[T], encode func(T) ([]byte, error), write func([]byte) error) error {
	items := make([]T, 0, share*runtime.GOMAXPROCS(0))
	texts := make([][]byte, cap(items))
	flush := func() error {
		var group errgroup.Group
		for first := 0; first < len(items); first += share {
			group.Go(func() (err error) {
				for i := first; i < min(first+share, len(items)) && err == nil; i++ {
					texts[i], err = encode(items[i])
				}
				return err
			})
		}
		err := group.Wait()
		for i := 0; i < len(items) && err == nil; i++ {
			err = write(texts[i])
		}
		items = items[:0]
		return err
	}
	for item := range all {
		if items = append(items, item); len(items) == cap(items) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
