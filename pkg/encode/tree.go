package encode

import (
	"iter"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Tree returns the tree as the versioned object that -o json and yaml print: each object once,
// where it comes first.
func Tree(t render.Tree, gaps []v1alpha1.Gap) *v1alpha1.Tree {
	out := emptyTree(gaps)
	out.Nodes = slices.AppendSeq(slices.Grow(out.Nodes, len(t.Rows)), nodes(t))
	return out
}

func emptyTree(gaps []v1alpha1.Gap) *v1alpha1.Tree {
	return &v1alpha1.Tree{
		TypeMeta: v1alpha1.TypeMeta("Tree"),
		Complete: len(gaps) == 0,
		Gaps:     append([]v1alpha1.Gap{}, gaps...),
		Nodes:    []v1alpha1.TreeNode{},
	}
}

// nodes iterates over the objects of the tree. Rows further down can say more of an object, so that
// all rows are looked at before the first node comes.
func nodes(t render.Tree) iter.Seq[v1alpha1.TreeNode] {
	seen := make([]bool, t.Graph.Len())
	depths, links := map[graph.ID]int{}, map[graph.ID][]v1alpha1.TreeOwner{}
	for _, row := range t.Rows {
		if row.Hidden { // owners say what it says
			continue
		}
		if seen[row.ID] && row.Repeat == graph.First {
			depths[row.ID] = row.Distance // above, --depth cut it
		}
		seen[row.ID] = true
		if row.Link != "" {
			links[row.ID] = append(links[row.ID],
				v1alpha1.TreeOwner{UID: t.Graph.Ref(row.LinkOwner).UID, Link: row.Link, Confirmed: confirmed(t.Graph, row)})
		}
	}
	return func(yield func(v1alpha1.TreeNode) bool) {
		left := slices.Clone(seen) // objects that have not come
		for _, row := range t.Rows {
			if row.Hidden || !left[row.ID] {
				continue
			}
			left[row.ID] = false
			n := node(t, row)
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

// confirmed says of a row that a link leads to whether both sides of the link say so. What is not
// there says nothing.
func confirmed(g *graph.Graph, row graph.Row) *bool {
	is := !row.Unconfirmed && g.Observed(row.ID)
	return &is
}

func node(t render.Tree, row graph.Row) v1alpha1.TreeNode {
	g := t.Graph
	_, cycle := g.Cycle(row.ID)
	n := v1alpha1.TreeNode{
		Ref: Ref(g.Ref(row.ID)), State: v1alpha1.State(g.State(row.ID).String()),
		Finalizers: append([]string{}, g.Finalizers(row.ID)...),
		Ready:      t.Readings[row.ID].Ready, Status: t.Readings[row.ID].Status,
		CreationTimestamp: timestamp(g.CreationTimestamp(row.ID)), DeletionTimestamp: timestamp(g.DeletionTimestamp(row.ID)),
		Owners: []v1alpha1.TreeOwner{},
		Depth:  row.Distance, Root: row.Root, Cycle: cycle,
	}
	if c := t.Readings[row.ID].Failing; c != nil {
		n.Failing = &v1alpha1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message}
	}
	for e := range g.Owners(row.ID) {
		n.Owners = append(n.Owners, v1alpha1.TreeOwner{
			UID: g.Ref(e.Owner).UID, Controller: e.Controller, BlockOwnerDeletion: e.Block, Problems: e.Problem.Names(),
		})
	}
	return n
}

// Ref returns what identifies a node as it is printed.
func Ref(r graph.Ref) v1alpha1.ObjectRef {
	return v1alpha1.ObjectRef{
		APIVersion: r.APIVersion, Kind: r.Kind, Resource: r.Resource,
		Namespace: r.Namespace, Name: r.Name, UID: r.UID,
	}
}

func timestamp(seconds int64) *metav1.Time {
	if seconds == 0 {
		return nil
	}
	t := metav1.NewTime(time.Unix(seconds, 0).UTC())
	return &t
}
