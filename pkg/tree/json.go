package tree

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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
	for n := range s.nodes() {
		if text, err = json.MarshalIndent(n, indent+indent, indent); err != nil {
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
