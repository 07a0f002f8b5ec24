package encode

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Tree returns the tree as the versioned object that -o json prints: each object once, where it comes first.
func Tree(t render.Tree, gaps []v1alpha1.Gap) *v1alpha1.Tree {
	out := &v1alpha1.Tree{
		TypeMeta: v1alpha1.TypeMeta("Tree"),
		Complete: len(gaps) == 0,
		Gaps:     append([]v1alpha1.Gap{}, gaps...),
		Nodes:    make([]v1alpha1.TreeNode, 0, len(t.Rows)),
	}
	at := make(map[graph.ID]int, len(t.Rows))
	for _, row := range t.Rows {
		if row.Hidden { // owners say what it says
			continue
		}
		i, listed := at[row.ID]
		if !listed {
			i = len(out.Nodes)
			at[row.ID] = i
			out.Nodes = append(out.Nodes, node(t, row))
		} else if row.Repeat == graph.First {
			out.Nodes[i].Depth = row.Distance // above, --depth cut it
		}
		if row.Link != "" {
			out.Nodes[i].Owners = append(out.Nodes[i].Owners, v1alpha1.TreeOwner{UID: t.Graph.Ref(row.LinkOwner).UID, Link: row.Link})
		}
	}
	return out
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
