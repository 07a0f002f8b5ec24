package rescue

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// save writes an archive of what no archive has: of the object with its dependents, or of dependents that came up later. What it has is read from it again, so that
// the rest is done with what is on the disk.
func (r *rescuer) save(ctx context.Context) error {
	part := *r.p
	part.Dependents = nil
	for _, d := range r.p.Dependents {
		if !d.Recorded {
			part.Dependents = append(part.Dependents, d)
		}
	}
	first := r.p.record == nil
	if !first && len(part.Dependents) == 0 {
		return nil
	}
	file := r.p.Archive
	if !first {
		file = numbered(file, len(r.p.record.Files)+1)
	}
	saved, err := archive.Save(ctx, r.q.Client, file, part.contents(), r.opts.Head(&part))
	if err != nil {
		return notSaved(ctx, err, first)
	}
	if first && !saved.Has(r.p.Ref.UID) {
		return errors.Join(answer.Refuse(fmt.Errorf("nothing was changed: %s was deleted meanwhile", r.p.Ref.Quoted())), os.Remove(file))
	}
	if r.p.record, err = Read(r.p.Archive, r.p.Ref); err != nil {
		return err
	}
	for _, d := range r.p.Dependents {
		d.Recorded = r.p.record.find(d.Ref.UID) != nil
	}
	if r.opts.OnSaved != nil {
		r.opts.OnSaved(file, saved)
	}
	return nil
}

// notSaved words an error of an archive without which nothing is done.
func notSaved(ctx context.Context, err error, first bool) error {
	not := "nothing was changed"
	if !first {
		not = "the object was not freed"
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*cluster.UnreadError)):
		return answer.Refuse(fmt.Errorf("%s: the archive would be incomplete: %w", not, err))
	}
	return fmt.Errorf("%s: writing the archive: %w", not, err)
}

// contents are the object and its dependents as pkg/archive takes them.
func (p *Planned) contents() archive.Contents {
	b := graph.NewBuilder()
	add := func(t graph.Type, o graph.Object) {
		b.Serve(t)
		list := b.Listing(t, o.Namespace)
		list.Add(o)
		list.Complete()
	}
	add(p.Type, graph.Object{Namespace: p.Ref.Namespace, Name: p.Ref.Name, UID: p.Ref.UID})
	owner := graph.OwnerReference{APIVersion: p.Ref.APIVersion, Kind: p.Ref.Kind, Name: p.Ref.Name, UID: p.Ref.UID}
	for _, d := range p.Dependents {
		add(d.Type, graph.Object{Namespace: d.Ref.Namespace, Name: d.Ref.Name, UID: d.Ref.UID, Owners: []graph.OwnerReference{owner}})
	}
	all := archive.Contents{Graph: b.Build()}
	for i := range all.Graph.Len() {
		all.Objects = append(all.Objects, graph.ID(i))
	}
	return all
}
