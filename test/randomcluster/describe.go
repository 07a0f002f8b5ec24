package randomcluster

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Object is what is compared of an object.
type Object struct {
	Gone, Deleting, Orphan, Foreground, Held bool
	// Refs are the references that it has, and Blocks says for each whether it blocks.
	Refs   []graph.Edge
	Blocks []bool
}

// Describe gives a line for each object that exists. Names stand for uids, so that copies can be
// compared.
func Describe(g *graph.Graph, namespace string, state func(graph.ID) Object) []string {
	var lines []string
	for _, id := range Seen(g) {
		o := state(id)
		if o.Gone {
			continue
		}
		r := g.Ref(id)
		var refs []string
		for i, e := range o.Refs {
			refs = append(refs, fmt.Sprintf("%s/%s/%s block=%t", e.APIVersion, e.Kind, strings.TrimPrefix(e.Name, namespace),
				o.Blocks[i]))
		}
		slices.Sort(refs)
		lines = append(lines, fmt.Sprintf("%s/%s deleting=%t orphan=%t foreground=%t held=%t owners=%v", r.Kind,
			strings.TrimPrefix(r.Name, namespace),
			o.Deleting, o.Orphan, o.Foreground, o.Held, refs))
	}
	slices.Sort(lines)
	return lines
}

// Snapshot describes a graph as it was listed.
func Snapshot(g *graph.Graph, namespace string) []string {
	return Describe(g, namespace, func(id graph.ID) Object {
		o := Object{Deleting: g.State(id) == graph.Deleting}
		for _, f := range g.Finalizers(id) {
			switch f {
			case metav1.FinalizerOrphanDependents:
				o.Orphan = true
			case metav1.FinalizerDeleteDependents:
				o.Foreground = true
			default:
				o.Held = true
			}
		}
		if o.Deleting && len(g.Finalizers(id)) == 0 {
			o.Held = true // a grace period runs
		}
		for e := range g.Owners(id) {
			o.Refs, o.Blocks = append(o.Refs, e), append(o.Blocks, e.Block)
		}
		return o
	})
}

// Seen returns the objects that a graph was built of.
func Seen(g *graph.Graph) []graph.ID {
	var ids []graph.ID
	for i := range g.Len() {
		if g.Observed(graph.ID(i)) {
			ids = append(ids, graph.ID(i))
		}
	}
	return ids
}

// Roots returns some objects, chosen by name so that the same random numbers choose the same in
// every copy.
func Roots(g *graph.Graph, namespace string, choose func(n int) int) []graph.ID {
	byName := Seen(g)
	short := func(id graph.ID) string { return strings.TrimPrefix(g.Ref(id).Name, namespace) }
	slices.SortFunc(byName, func(x, y graph.ID) int { return strings.Compare(short(x), short(y)) })
	var roots []graph.ID
	for range 1 + choose(2) {
		if len(byName) > 0 {
			roots = append(roots, byName[choose(len(byName))])
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}
