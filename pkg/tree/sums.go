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
}

// mostRead is of how many pods and PersistentVolumeClaims the requests are read.
const mostRead = 10_000

// readRequests reads what the pods and the PersistentVolumeClaims among objects request. Unread are
// those that could not be read, or are too many.
func readRequests(ctx context.Context, client *cluster.Client, g *graph.Graph, of []graph.ID) (
	requests map[graph.ID]map[string]resource.Quantity, unread int, err error) {
	var ids []graph.ID
	for _, id := range of {
		r := g.Ref(id)
		if g.Observed(id) && r.Group() == "" && (r.Resource == "pods" || r.Resource == "persistentvolumeclaims") {
			ids = append(ids, id)
		}
	}
	if len(ids) > mostRead {
		return nil, len(ids), nil
	}
	contents, left, err := client.SpecFields(ctx, cluster.RequestSpecFields(g, ids))
	requests = make(map[graph.ID]map[string]resource.Quantity, len(ids))
	for _, id := range ids {
		if c := contents[g.Ref(id).UID]; c.Phase != "Succeeded" && c.Phase != "Failed" {
			requests[id] = c.Requests
		}
	}
	return requests, len(left), err
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
	requests, unread, err := readRequests(ctx, client, s.Graph, ids)
	if err != nil {
		return err
	}
	of := &summing{g: s.Graph, links: s.links, requests: requests, private: map[graph.ID]bool{}, sums: map[graph.ID]Sum{}}
	s.UnreadRequests, s.Sums = unread, make(map[graph.ID]*v1alpha1.Sum, len(ids))
	for _, id := range ids {
		s.Sums[id] = of.of(id).Printed()
	}
	return nil
}

// largestFirst orders objects by how many go with them.
func (s *Snapshot) largestFirst(a, b graph.ID) int {
	return cmp.Compare(s.Sums[b].Objects, s.Sums[a].Objects)
}

// summing sums up what goes with objects.
type summing struct {
	g        *graph.Graph
	links    *link.Links // nil for ownerReferences alone
	requests map[graph.ID]map[string]resource.Quantity
	private  map[graph.ID]bool
	sums     map[graph.ID]Sum
}

// of returns the sum of an object, which is that of its dependents and itself where each has no other
// owner, and no link leads out of them.
func (s *summing) of(id graph.ID) Sum {
	if sum, known := s.sums[id]; known {
		return sum
	}
	s.walk(id)
	return s.sums[id]
}

// walk finds the sums of an object and of what is below it, from the bottom up, with a stack of its
// own: a chain of owners can be long.
func (s *summing) walk(root graph.ID) {
	type step struct {
		id   graph.ID
		left bool
	}
	open := map[graph.ID]bool{}
	for stack := []step{{id: root}}; len(stack) > 0; {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		_, known := s.sums[at.id]
		switch {
		case at.left:
			s.sums[at.id] = s.sum(at.id)
		case !known && !open[at.id]:
			open[at.id] = true
			stack = append(stack, step{at.id, true})
			for e := range s.g.Dependents(at.id) {
				stack = append(stack, step{id: e.Dependent})
			}
		}
	}
}

// sum is that of an object the dependents of which have theirs; in a ring of owners not all do.
func (s *summing) sum(id graph.ID) Sum {
	if len(s.taken(id)) > 0 {
		return s.closure(id)
	}
	sum, last := s.own(id), id
	for e := range s.g.Dependents(id) {
		if e.Dependent == last { // an object's references stand together
			continue
		}
		last = e.Dependent
		below, known := s.sums[e.Dependent]
		if !known || !s.private[e.Dependent] || len(s.owners(e.Dependent)) > 1 {
			return s.closure(id)
		}
		sum.add(below)
	}
	s.private[id] = true
	return sum
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
	if !s.g.Observed(id) {
		return Sum{}
	}
	return Sum{Objects: 1, Requests: s.requests[id]}
}

// add adds a sum, of which nothing is kept or changed.
func (s *Sum) add(more Sum) {
	s.Objects += more.Objects
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
	out := &v1alpha1.Sum{Objects: s.Objects}
	for name, q := range s.Requests {
		if out.Requests == nil {
			out.Requests = map[string]string{}
		}
		out.Requests[name] = q.String()
	}
	return out
}
