package encode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// indent is that of cli-runtime's JSON printer.
const indent = "    "

// TreeJSON writes what the JSON printer of cli-runtime would of a Tree, and holds one object at a time: a whole cluster has a hundred thousand.
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
	defer out.Flush()
	_, _ = out.Write(head) // a writer that fails says so at the end
	between, end := "[\n"+indent+indent, "[]\n}\n"
	for n := range nodes(t) {
		text, err := json.MarshalIndent(n, indent+indent, indent)
		if err != nil {
			return err
		}
		_, _ = out.WriteString(between)
		if _, err := out.Write(text); err != nil {
			return err
		}
		between, end = ",\n"+indent+indent, "\n"+indent+"]\n}\n"
	}
	_, _ = out.WriteString(end)
	return out.Flush()
}
