package tree

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Printed returns the tree as the versioned object that -o json and yaml print: each object once,
// where it comes first.
func (s *Snapshot) Printed() *v1alpha1.Tree {
	out := s.empty()
	out.Nodes = slices.AppendSeq(slices.Grow(out.Nodes, len(s.Rows)), s.nodes())
	return out
}

// empty is the tree as it is printed, without its objects.
func (s *Snapshot) empty() *v1alpha1.Tree {
	return &v1alpha1.Tree{
		TypeMeta: v1alpha1.TypeMeta("Tree"),
		Origin:   s.Origin,
		Complete: len(s.Gaps) == 0,
		Gaps:     append([]v1alpha1.Gap{}, s.Gaps...),
		Nodes:    []v1alpha1.TreeNode{},
	}
}

// nodes iterates over the objects of the tree. Rows further down can say more of an object, so that
// all rows are looked at before the first node comes.
func (s *Snapshot) nodes() iter.Seq[v1alpha1.TreeNode] {
	seen := make([]bool, s.Graph.Len())
	depths, links := map[graph.ID]int{}, map[graph.ID][]v1alpha1.TreeOwner{}
	for _, row := range s.Rows {
		if row.Hidden { // owners say what it says
			continue
		}
		if seen[row.ID] && row.Repeat == graph.First {
			depths[row.ID] = row.Distance // above, --depth cut it
		}
		seen[row.ID] = true
		if row.Link != "" {
			links[row.ID] = append(links[row.ID], v1alpha1.TreeOwner{UID: s.Graph.Ref(row.LinkOwner).UID, Link: row.Link,
				Confirmed: new(!row.Unconfirmed && s.Graph.Observed(row.ID))}) // what is not there says nothing
		}
	}
	return func(yield func(v1alpha1.TreeNode) bool) {
		left := slices.Clone(seen) // objects that have not come
		for _, row := range s.Rows {
			if row.Hidden || !left[row.ID] {
				continue
			}
			left[row.ID] = false
			n := s.node(row)
			if depth, deeper := depths[row.ID]; deeper {
				n.Depth = depth
			}
			n.Owners = append(n.Owners, links[row.ID]...)
			if !yield(n) {
				return
			}
		}
	}
}

func (s *Snapshot) node(row graph.Row) v1alpha1.TreeNode {
	g := s.Graph
	_, cycle := g.Cycle(row.ID)
	n := v1alpha1.TreeNode{
		Ref: g.Ref(row.ID), State: v1alpha1.State(g.State(row.ID).String()),
		Finalizers: append([]string{}, g.Finalizers(row.ID)...),
		Ready:      s.Readings[row.ID].Ready, Status: s.Readings[row.ID].Status, Failing: s.Readings[row.ID].Failing,
		CreationTimestamp: timestamp(g.CreationTimestamp(row.ID)), DeletionTimestamp: timestamp(g.DeletionTimestamp(row.ID)),
		Owners: []v1alpha1.TreeOwner{}, Sum: s.Sums[row.ID],
		Depth: row.Distance, Root: row.Root, Cycle: cycle,
	}
	for e := range g.Owners(row.ID) {
		n.Owners = append(n.Owners, v1alpha1.TreeOwner{
			UID: g.Ref(e.Owner).UID, Controller: e.Controller, BlockOwnerDeletion: e.Block, Problems: e.Problem.Names(),
		})
	}
	return n
}

func timestamp(seconds int64) *metav1.Time {
	if seconds == 0 {
		return nil
	}
	return new(metav1.NewTime(time.Unix(seconds, 0).UTC()))
}

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
