package archive

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// separator stands between two documents.
const separator = "---\n"

// Saved is what came of saving objects.
type Saved struct {
	// File is where the archive is.
	File string
	// Objects is the number of objects in the archive, and Refs are they in its order.
	Objects int
	Refs    []graph.Ref
	// Gone are those that are not there any more: deleted since they were listed, and perhaps
	// created again with another uid.
	Gone []graph.Ref
	// Unconfirmed are those that were left out because only unconfirmed links lead to them.
	Unconfirmed []graph.Ref
	// Gaps says that there may be objects that could not be listed, and are in the plan's gaps.
	Gaps bool

	// Head is the plan as it is in the archive.
	Head *v1alpha1.Plan

	copies map[string]copied // by uid
}

// Save writes an archive of objects as they are now; head is the plan that is about to be carried
// out, as it is printed, and is written with the Cluster that the objects are of, how many they are
// and when they were saved. The file is compressed with gzip if its name ends in .gz. It is there
// when all of it is on the disk; with an error there is none. The error is a cluster.UnreadError
// for an object that cannot be read whole, what ended ctx, and otherwise about the file. That the
// cluster cannot be told is none.
func Save(ctx context.Context, client *cluster.Client, path string, what Contents, head *v1alpha1.Plan) (*Saved,
	error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	whose, err := client.Identity(ctx)
	if err != nil {
		return nil, err
	}
	ids := what.ordered()
	s, err := newSpool(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer s.remove()
	if err := read(ctx, client, what, ids, s); err != nil {
		return nil, err
	}
	saved := what.saved(ids, s)
	begin := *head
	saved.File, saved.Head = path, &begin
	begin.Cluster, begin.Archived, begin.ArchivedAt = whose, &saved.Objects, &metav1.Time{Time: client.Now().UTC()}
	err = Write(path, func(file io.Writer) error {
		return compressed(file, path, func(w io.Writer) error { return write(w, ids, s, &begin) })
	})
	if err != nil {
		return nil, err
	}
	return saved, nil
}

// read fills the spool with the documents of the objects that are still there.
func read(ctx context.Context, client *cluster.Client, what Contents, ids []graph.ID, s *spool) error {
	g := what.Graph
	return client.ForEachObject(ctx, cluster.RequestObjects(g, ids), func(o *unstructured.Unstructured) error {
		id, known := g.Lookup(string(o.GetUID()))
		if !known {
			return nil // another object that has the name now
		}
		doc, err := document(o.Object)
		if err != nil {
			return fmt.Errorf("writing %s %q: %w", o.GetKind(), o.GetName(), err)
		}
		if err := readable(doc); err != nil {
			return fmt.Errorf("%s %q could not be read again: %w", o.GetKind(), o.GetName(), err)
		}
		copied, err := copyOf(o.Object, what.settings[string(o.GetUID())])
		if err != nil {
			return fmt.Errorf("reading %s %q: %w", o.GetKind(), o.GetName(), err)
		}
		return s.add(id, doc, copied)
	})
}

// saved is what comes of writing the objects of which the spool has documents.
func (c Contents) saved(ids []graph.ID, s *spool) *Saved {
	saved := &Saved{copies: map[string]copied{}, Unconfirmed: c.Graph.Refs(c.Unconfirmed)}
	for _, id := range ids {
		if !s.has(id) {
			saved.Gone = append(saved.Gone, c.Graph.Ref(id))
			continue
		}
		saved.Objects++
		saved.Refs = append(saved.Refs, c.Graph.Ref(id))
		saved.copies[c.Graph.Ref(id).UID] = s.at[id].of
	}
	return saved
}

// write writes the archive from the spool.
func write(w io.Writer, ids []graph.ID, s *spool, head *v1alpha1.Plan) error {
	if err := writePlan(&bounding{w, maxPlan}, head); err != nil {
		return err
	}
	for _, id := range ids {
		if !s.has(id) {
			continue
		}
		if _, err := io.WriteString(w, separator); err != nil {
			return err
		}
		if err := s.copy(w, id); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, endOf(*head.Archived))
	return err
}

// Contents are the objects that an archive is written of.
type Contents struct {
	// Graph has the objects, and the owners by which they are put in order.
	Graph *graph.Graph
	// Objects are the objects in any order. Those that were not listed, as absent owners, are left
	// out.
	Objects []graph.ID
	// Unconfirmed are objects to which only unconfirmed links lead, and that are left out because
	// of it.
	Unconfirmed []graph.ID
	// Links are the edges that no ownerReference records; nil for those that follow from the graph.
	Links *link.Links

	// settings are the fields that are set in objects before they are deleted, by uid.
	settings map[string][]plan.Setting
}

// OfPlan are the objects that a plan deletes or changes: those that were named, those that are
// deleted, and those that an action is about, as far as they belong to what was named.
func OfPlan(p *plan.Plan) Contents {
	return Contents{Graph: p.Graph, Objects: touched(p), Unconfirmed: p.Unconfirmed(), settings: settingsOf(p)}
}

// OfObjects are the objects that each passes on, with the owners by which they are put in order.
func OfObjects(each func(add func(t graph.Type, ref graph.Ref, owners ...graph.OwnerReference))) Contents {
	b := graph.NewBuilder()
	each(func(t graph.Type, ref graph.Ref, owners ...graph.OwnerReference) {
		b.Serve(t)
		list := b.Listing(t, ref.Namespace)
		list.Add(graph.Object{Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID, Owners: owners})
		list.Complete()
	})
	g := b.Build()
	return Contents{Graph: g, Objects: slices.Collect(g.IDs())}
}

// Listed are the objects without those that were not listed, sorted.
func (c Contents) Listed() []graph.ID {
	ids := slices.Clone(c.Objects)
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id graph.ID) bool { return !c.Graph.Observed(id) })
}

// ordered are the objects in the order of the archive.
func (c Contents) ordered() []graph.ID {
	links := c.Links
	if links == nil {
		links = link.New(c.Graph)
	}
	return ownersFirst(c.Graph, links, c.Listed())
}

// touched returns what a plan deletes or changes, sorted: what goes, what any action is about, and
// what was named.
func touched(p *plan.Plan) []graph.ID {
	ids := slices.Concat(p.Roots, p.Deleted)
	for _, a := range p.Actions {
		ids = append(ids, a.Object)
	}
	ids = slices.DeleteFunc(ids, func(id graph.ID) bool { return !p.Belongs(id) })
	return Contents{Graph: p.Graph, Objects: ids}.Listed()
}

// ownersFirst orders sorted objects so that each comes after those of them that own it: its
// definition, its namespace, its owners in the order of its references. A cycle begins with the
// member that is reached first.
func ownersFirst(g *graph.Graph, links *link.Links, ids []graph.ID) []graph.ID {
	owners := make(map[graph.ID][]graph.ID, len(ids))
	for _, id := range ids {
		owners[id] = nil
	}
	for _, id := range ids {
		for _, l := range links.Dependents(id) {
			if _, wanted := owners[l.Dependent]; wanted {
				owners[l.Dependent] = append(owners[l.Dependent], id)
			}
		}
	}
	for _, id := range ids {
		for e := range g.Owners(id) {
			if _, wanted := owners[e.Owner]; wanted {
				owners[id] = append(owners[id], e.Owner)
			}
		}
	}
	order := make([]graph.ID, 0, len(ids))
	visited := make(map[graph.ID]bool, len(ids))
	var visit func(graph.ID)
	visit = func(id graph.ID) {
		if visited[id] {
			return
		}
		visited[id] = true
		for _, owner := range owners[id] {
			visit(owner)
		}
		order = append(order, id)
	}
	for _, id := range ids {
		visit(id)
	}
	return order
}

// spool keeps documents on disk in the order in which they are read, which is any, until they are
// written in the order of the archive. It is safe for concurrent use.
type spool struct {
	file *os.File

	mu   sync.Mutex
	size int64
	at   map[graph.ID]section
}

type section struct {
	offset, length int64
	of             copied
}

func newSpool(dir string) (*spool, error) {
	file, err := private(dir)
	if err != nil {
		return nil, err
	}
	return &spool{file: file, at: map[graph.ID]section{}}, nil
}

// add keeps an object's document, in place of an older one of its.
func (s *spool) add(id graph.ID, doc []byte, of copied) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.WriteAt(doc, s.size); err != nil {
		return err
	}
	s.at[id] = section{s.size, int64(len(doc)), of}
	s.size += int64(len(doc))
	return nil
}

// has reports whether there is a document of an object. Like copy it is for when all are added.
func (s *spool) has(id graph.ID) bool {
	_, ok := s.at[id]
	return ok
}

// copy writes an object's document.
func (s *spool) copy(w io.Writer, id graph.ID) error {
	at := s.at[id]
	n, err := io.Copy(w, io.NewSectionReader(s.file, at.offset, at.length))
	if err == nil && n != at.length {
		err = fmt.Errorf("%s ends early: %w", s.file.Name(), io.ErrUnexpectedEOF)
	}
	return err
}

// remove takes the file away.
func (s *spool) remove() { discard(s.file) }
