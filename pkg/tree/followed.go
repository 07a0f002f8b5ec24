package tree

import (
	"maps"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// followed are objects by their uids, which a later look finds though their names may be others' by
// then.
type followed struct {
	roots []string
	// linked are, by the uid of an object, those that are deleted because of it by a link. No
	// ownerReference leads to them once the object is gone.
	linked map[string][]string
}

// follow returns what is left to follow after a snapshot.
func (f *followed) follow(s *Snapshot) *followed {
	next := &followed{linked: map[string][]string{}}
	if f != nil {
		next.roots = f.roots
		maps.Copy(next.linked, f.linked)
	}
	seen := map[graph.ID]bool{}
	for _, row := range s.Rows {
		if f == nil && row.Root {
			next.roots = append(next.roots, s.Graph.Ref(row.ID).UID)
		}
		if !seen[row.ID] && s.Graph.Observed(row.ID) {
			seen[row.ID] = true
			uid, ends := s.Graph.Ref(row.ID).UID, s.linked(row.ID)
			if len(ends) == 0 && s.Graph.DeletionTimestamp(row.ID) != 0 {
				ends = next.linked[uid] // it may have been gone by the time it was read
			}
			next.linked[uid] = ends
		}
	}
	return next
}

// linked are the uids of the objects that are deleted because of an object by a link.
func (s *Snapshot) linked(id graph.ID) []string {
	if s.links == nil {
		return nil
	}
	var uids []string
	for _, f := range s.links.Found(id) {
		if uid := s.Graph.Ref(f.Dependent()).UID; f.Deletes() && uid != "" {
			uids = append(uids, uid)
		}
	}
	return uids
}

// in returns what is there of the objects, and of those that are gone what was to be deleted
// because of them.
func (f *followed) in(g *graph.Graph) []graph.ID {
	var ids []graph.ID
	seen := map[string]bool{}
	for queue := f.roots; len(queue) > 0; {
		uid := queue[0]
		queue = queue[1:]
		if seen[uid] {
			continue
		}
		seen[uid] = true
		id, known := g.Lookup(uid)
		if known {
			ids = append(ids, id)
		}
		if !known || !g.Observed(id) {
			queue = append(queue[:len(queue):len(queue)], f.linked[uid]...)
		}
	}
	return ids
}
