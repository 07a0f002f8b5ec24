package rescue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// save writes an archive of what no archive has: of the object with its dependents, of dependents
// that came up later, or of what has changed since. What it has is read from it again, so that the
// rest is done with what is on the disk.
func (r *rescuer) save(ctx context.Context) error {
	part := *r.p
	part.Dependents = nil
	for _, d := range r.p.Dependents {
		if !d.Recorded {
			part.Dependents = append(part.Dependents, d)
		}
	}
	first := r.p.record == nil
	if !first && len(part.Dependents) == 0 && !r.p.changed {
		return nil
	}
	file := r.p.Archive
	if !first {
		file = numbered(file, len(r.p.record.Files)+1)
	}
	saved, err := archive.Save(ctx, r.q.Client, file, part.contents(), part.Printed())
	if err != nil {
		not := "nothing was changed"
		if !first {
			not = "the object was not freed"
		}
		return archive.NotSaved(ctx, err, not, "")
	}
	if first && !saved.Has(r.p.Ref.UID) {
		return errors.Join(answer.Refuse(fmt.Errorf("nothing was changed: %s was deleted meanwhile", r.p.Ref.Quoted())),
			os.Remove(file))
	}
	if err := r.readBack(file, saved); err != nil {
		return err
	}
	r.p.changed = false
	for _, d := range r.p.Dependents {
		d.Recorded = r.p.record.find(d.Ref.UID) != nil
	}
	if r.opts.OnSaved != nil {
		r.opts.OnSaved(saved)
	}
	return nil
}

// readBack adds an archive that was just written. The error says that it is not what was written.
func (r *rescuer) readBack(file string, saved *archive.Saved) (err error) {
	record := r.p.record
	if record == nil {
		record, err = Read(file, r.p.Ref)
	} else {
		err = record.read(file, r.p.Ref)
	}
	if err != nil {
		return err
	}
	if string(record.Object.GetUID()) != r.p.Ref.UID || saved.Has(r.p.Ref.UID) && !saved.Holds(record.Object) {
		return fmt.Errorf("%s is not what was written to it", file)
	}
	r.p.record = record
	return nil
}

// isOutdated says whether something would be lost if the object were created again as it was saved.
func (r *rescuer) isOutdated(live *unstructured.Unstructured) bool {
	saved := r.p.record.Object
	return saved.GetResourceVersion() != live.GetResourceVersion() && !reflect.DeepEqual(r.lasting(saved), r.lasting(live))
}

// lasting is what an object that is created again has of the old one. Finalizers can only be
// removed from one that is being deleted.
func (r *rescuer) lasting(o *unstructured.Unstructured) map[string]any {
	c := restore.Creatable(o)
	c.SetFinalizers(nil)
	c.SetOwnerReferences(o.GetOwnerReferences())
	if state, has := o.Object["status"]; has && !cluster.BuiltIn(r.p.Type.Group) {
		c.Object["status"] = state
	}
	return c.Object
}

// contents are the object and its dependents as pkg/archive takes them.
func (p *Planned) contents() archive.Contents {
	return archive.OfObjects(func(add func(graph.Type, graph.Object)) {
		add(p.Type, graph.Object{Namespace: p.Ref.Namespace, Name: p.Ref.Name, UID: p.Ref.UID})
		owner := graph.OwnerReference{APIVersion: p.Ref.APIVersion, Kind: p.Ref.Kind, Name: p.Ref.Name, UID: p.Ref.UID}
		for _, d := range p.Dependents {
			add(d.Type, graph.Object{Namespace: d.Ref.Namespace, Name: d.Ref.Name, UID: d.Ref.UID,
				Owners: []graph.OwnerReference{owner}})
		}
	})
}
