package tree

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Sum is what goes when an object is deleted in the background, the object itself among it: its
// dependents without another owner that is there, the content of a namespace, the instances of a CRD,
// and what confirmed links delete.
type Sum struct {
	Objects int
	// Requests are the sums of what the pods among them request, and of the storage that the
	// PersistentVolumeClaims do, by resource.
	Requests map[string]resource.Quantity
	// Unread is how many of these pods and PersistentVolumeClaims could not be read, or are too many.
	Unread int
}

// mostRead is of how many pods and PersistentVolumeClaims the requests are read.
const mostRead = 10_000

// readRequests reads what the pods and the PersistentVolumeClaims among objects request, and returns
// their own parts of the sums.
func readRequests(ctx context.Context, client *cluster.Client, g *graph.Graph, of []graph.ID) (map[graph.ID]Sum,
	error) {
	var ids []graph.ID
	parts := map[graph.ID]Sum{}
	for _, id := range of {
		r := g.Ref(id)
		if g.Observed(id) && r.Group() == "" && (r.Resource == "pods" || r.Resource == "persistentvolumeclaims") {
			ids = append(ids, id)
			parts[id] = Sum{Objects: 1, Unread: 1}
		}
	}
	if len(ids) > mostRead {
		return parts, nil
	}
	contents, unread, err := client.SpecFields(ctx, g, ids)
	for _, id := range ids {
		switch c := contents[id]; {
		case slices.Contains(unread, id):
		case c.Phase == "Succeeded" || c.Phase == "Failed":
			parts[id] = Sum{Objects: 1}
		default:
			parts[id] = Sum{Objects: 1, Requests: c.Requests}
		}
	}
	return parts, err
}

// sum finds the sums of all rows of a tree.
func (s *Snapshot) sum(ctx context.Context, client *cluster.Client, roots []graph.ID, opts graph.TreeOptions) error {
	opts.Depth, opts.Show = -1, nil
	var ids []graph.ID
	seen := map[graph.ID]bool{}
	for row := range s.Graph.Walk(roots, opts) {
		if !seen[row.ID] {
			seen[row.ID] = true
			ids = append(ids, row.ID)
		}
	}
	parts, err := readRequests(ctx, client, s.Graph, ids)
	if err != nil {
		return err
	}
	of := newSumming(s.Graph, s.links, parts)
	s.Sums = make(map[graph.ID]*v1alpha1.Sum, len(ids))
	for _, id := range ids {
		if s.Graph.Observed(id) {
			s.Sums[id] = of.of(id).Printed()
		}
	}
	return nil
}

// largestFirst orders objects by how many go with them, and what is not there behind them.
func (s *Snapshot) largestFirst(a, b graph.ID) int {
	objects := func(id graph.ID) int {
		if sum := s.Sums[id]; sum != nil {
			return sum.Objects
		}
		return 0
	}
	return cmp.Compare(objects(b), objects(a))
}

// summing sums up what goes with objects.
type summing struct {
	g     *graph.Graph
	links *link.Links // nil for ownerReferences alone
	parts map[graph.ID]Sum
	// sums are those of objects by their ownerReferences alone. An object that is missing is in a ring
	// of owners or below one, or a link leads out of what goes with it.
	sums map[graph.ID]Sum
}

// newSumming sums up, owners before dependents, along the nearest object with which each goes: its
// immediate dominator in the graph of owners. So a chain of owners takes one pass, however it ends.
func newSumming(g *graph.Graph, links *link.Links, parts map[graph.ID]Sum) *summing {
	s := &summing{g: g, links: links, parts: parts, sums: map[graph.ID]Sum{}}
	order := s.ownersFirst()
	above, depth := make([]graph.ID, g.Len()), make([]int, g.Len()) // -1 for what goes with nothing else
	for _, id := range order {
		above[id] = -1
		for n, owner := range s.owners(id) {
			if n == 0 {
				above[id] = owner
				continue
			}
			for above[id] != owner && above[id] >= 0 && owner >= 0 {
				if depth[owner] >= depth[above[id]] {
					owner = above[owner]
				} else {
					above[id] = above[above[id]]
				}
			}
			above[id] = min(above[id], owner) // the same, or one of them is -1
		}
		if above[id] >= 0 {
			depth[id] = depth[above[id]] + 1
		}
	}
	sums, linked := make([]Sum, g.Len()), make([]bool, g.Len())
	for _, id := range slices.Backward(order) {
		sums[id].add(s.own(id))
		linked[id] = linked[id] || len(s.taken(id)) > 0
		if !linked[id] {
			s.sums[id] = sums[id]
		}
		if up := above[id]; up >= 0 {
			sums[up].add(sums[id])
			linked[up] = linked[up] || linked[id]
		}
	}
	return s
}

// ownersFirst are all objects that are in no ring of owners and below none, each after its owners. What
// a ring owns goes with no object outside of it.
func (s *summing) ownersFirst() []graph.ID {
	left, order := make([]int, s.g.Len()), make([]graph.ID, 0, s.g.Len())
	for i := range left {
		if left[i] = len(s.owners(graph.ID(i))); left[i] == 0 {
			order = append(order, graph.ID(i))
		}
	}
	for i := 0; i < len(order); i++ {
		last := graph.ID(-1)
		for e := range s.g.Dependents(order[i]) {
			if e.Dependent == last || !slices.Contains(s.owners(e.Dependent), order[i]) {
				continue
			}
			last = e.Dependent // an object's references stand together
			if left[last]--; left[last] == 0 {
				order = append(order, last)
			}
		}
	}
	return order
}

// of returns the sum of an object.
func (s *summing) of(id graph.ID) Sum {
	if sum, known := s.sums[id]; known {
		return sum
	}
	return s.closure(id)
}

// closure follows everything that goes with an object.
func (s *summing) closure(root graph.ID) Sum {
	var sum Sum
	gone := map[graph.ID]bool{root: true}
	for queue := []graph.ID{root}; len(queue) > 0; queue = queue[1:] {
		sum.add(s.own(queue[0]))
		take := func(id graph.ID) {
			if !gone[id] && s.g.Observed(id) {
				gone[id] = true
				queue = append(queue, id)
			}
		}
		for e := range s.g.Dependents(queue[0]) {
			if !slices.ContainsFunc(s.owners(e.Dependent), func(owner graph.ID) bool { return !gone[owner] }) {
				take(e.Dependent)
			}
		}
		for _, id := range s.taken(queue[0]) {
			take(id)
		}
	}
	return sum
}

// owners are those that keep an object: what the collector takes for absent keeps nothing (GC-046,
// GC-047), and what it never acts on keeps it for good (GC-048, GC-050, GC-064).
func (s *summing) owners(id graph.ID) []graph.ID {
	var all []graph.ID
	for e := range s.g.Owners(id) {
		absent := e.Problem&(graph.WrongNamespace|graph.WrongName) != 0 || s.g.State(e.Owner) == graph.Absent
		if !absent && !slices.Contains(all, e.Owner) {
			all = append(all, e.Owner)
		}
	}
	return all
}

// taken are the objects that go with one whatever else owns them.
func (s *summing) taken(id graph.ID) []graph.ID {
	if s.links == nil || !s.g.Observed(id) {
		return nil
	}
	all := s.links.Content(id)
	for _, f := range s.links.Found(id) {
		if f.Confirmed && f.Tries() {
			all = append(all, f.Dependent())
		}
	}
	return all
}

// own is the object's own part.
func (s *summing) own(id graph.ID) Sum {
	part, has := s.parts[id]
	if !has && s.g.Observed(id) {
		part.Objects = 1
	}
	return part
}

// add adds a sum, of which nothing is kept or changed.
func (s *Sum) add(more Sum) {
	s.Objects, s.Unread = s.Objects+more.Objects, s.Unread+more.Unread
	if len(more.Requests) == 0 {
		return
	}
	sums := make(map[string]resource.Quantity, len(s.Requests)+len(more.Requests))
	for _, of := range []map[string]resource.Quantity{s.Requests, more.Requests} {
		for name, q := range of {
			sum := sums[name]
			sum.Add(q)
			sums[name] = sum
		}
	}
	s.Requests = sums
}

// Printed returns the sum as it is printed.
func (s Sum) Printed() *v1alpha1.Sum {
	out := &v1alpha1.Sum{Objects: s.Objects, Unread: s.Unread}
	for name, q := range s.Requests {
		if out.Requests == nil {
			out.Requests = map[string]string{}
		}
		out.Requests[name] = q.String()
	}
	return out
}
