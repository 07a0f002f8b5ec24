package rescue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// Record is what the archives of a rescue say.
type Record struct {
	// Files are the archives in the order in which they were written: one, and one more for each
	// time that dependents came up later.
	Files []string
	// Object is the one that is rescued, as it was in the end, with the finalizers that it had
	// first.
	Object     *unstructured.Unstructured
	Dependents []*Dependent
	// Cluster is the uid of the namespace kube-system; empty if it is not known.
	Cluster string
	// Created is what rescues have created from it.
	Created *archive.Created
}

// defaultArchive is the name of the archive of an object in the current directory.
func defaultArchive(ref graph.Ref) string {
	// which Windows does not take
	return strings.ReplaceAll(fmt.Sprintf("rescue-%s-%s-%s.yaml", ref.Resource, ref.Name, ref.UID), ":", "-")
}

// numbered is the name of the n-th archive of a rescue whose first one has a name.
func numbered(file string, n int) string {
	if n == 1 {
		return file
	}
	ext := filepath.Ext(file)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(file, ext), n, ext)
}

// Read reads the archives of a rescue, of which file is the first. The error is fs.ErrNotExist if
// there is none, and otherwise names the file and what is wrong with it. The object is named
// without its uid.
func Read(file string, object graph.Ref) (*Record, error) {
	created, err := archive.CreatedFrom(file)
	if err != nil {
		return nil, err
	}
	r := &Record{Created: created}
	for n := 1; ; n++ {
		name := numbered(file, n)
		if _, err := os.Lstat(name); n > 1 && errors.Is(err, fs.ErrNotExist) {
			return r, nil
		}
		if err := r.read(name, object); err != nil {
			return nil, err
		}
	}
}

// read adds one archive, which is later than the others.
func (r *Record) read(file string, object graph.Ref) error {
	in, err := archive.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	root, err := rootOf(file, in.Head, object)
	if err != nil {
		return err
	}
	if r.Object != nil && string(r.Object.GetUID()) != root.UID {
		return fmt.Errorf("%s is of another object than %s: it has the uid %s", file, r.Files[0], root.UID)
	}
	if now := in.Head.Cluster; r.Cluster == "" {
		r.Cluster = now
	} else if now != "" && now != r.Cluster {
		return fmt.Errorf("%s is of another cluster than %s", file, r.Files[0])
	}
	r.refer(in.Head.References)
	for {
		o, _, err := in.Next()
		switch {
		case errors.Is(err, io.EOF) && r.Object == nil:
			return fmt.Errorf("%s does not have the object that it is of, %s %q", file, object.Resource, object.Name)
		case errors.Is(err, io.EOF):
			r.Files = append(r.Files, file)
			return nil
		case err != nil:
			return err
		case string(o.GetUID()) == root.UID:
			if r.Object != nil { // some may be removed already
				o.SetFinalizers(r.Object.GetFinalizers())
			}
			r.Object = o
		}
	}
}

// rootOf is the object that an archive is of, if it is one of a rescue of that object.
func rootOf(file string, head *v1alpha1.Plan, object graph.Ref) (v1alpha1.ObjectRef, error) {
	creates := func(a v1alpha1.Action) bool { return a.Verb == string(restore.Create) }
	if len(head.Roots) != 1 || !slices.ContainsFunc(head.Actions, creates) {
		return v1alpha1.ObjectRef{}, fmt.Errorf("%s is no archive of kubectl gc rescue", file)
	}
	root := head.Roots[0]
	if root.Group() != object.Group() || root.Resource != object.Resource ||
		root.Namespace != object.Namespace || root.Name != object.Name {
		return root, fmt.Errorf("%s is an archive of %s, and not of %s", file, root.Quoted(), object.Quoted())
	}
	return root, nil
}

// refer adds references. Those of a dependent that an earlier archive has are what they were then.
func (r *Record) refer(references []v1alpha1.Reference) {
	at := map[string]*Dependent{}
	for _, reference := range references {
		ref := reference.Object
		d := at[ref.UID]
		if d == nil {
			d = &Dependent{Type: typeOf(ref), Ref: ref, Recorded: true}
			at[ref.UID] = d
			r.Dependents = append(slices.DeleteFunc(r.Dependents,
				func(was *Dependent) bool { return was.Ref.UID == ref.UID }), d)
		}
		d.References = append(d.References, Reference{reference.OwnerReference, reference.Index})
	}
}

// find is the dependent with a uid, nil if there is none.
func (r *Record) find(uid string) *Dependent {
	for _, d := range r.Dependents {
		if d.Ref.UID == uid {
			return d
		}
	}
	return nil
}

// typeOf is the type of an object, which was listed when it was archived.
func typeOf(ref graph.Ref) graph.Type {
	version := ref.APIVersion
	if group := ref.Group(); group != "" {
		version = strings.TrimPrefix(version, group+"/")
	}
	return graph.Type{Group: ref.Group(), Version: version, Resource: ref.Resource, Kind: ref.Kind,
		Namespaced: ref.Namespace != ""}
}

// save writes an archive of what no archive has: of the object with its dependents, of dependents
// that came up later, or of what has changed since. What it has is read from it again, so that the
// rest is done with what is on the disk.
func (r *rescuer) save(ctx context.Context) error {
	part := *r.p
	part.Dependents = slices.DeleteFunc(slices.Clone(r.p.Dependents), func(d *Dependent) bool { return d.Recorded })
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

// isOutdated reports whether something would be lost if the object were created again as it was
// saved.
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
	return archive.OfObjects(func(add func(graph.Type, graph.Ref, ...graph.OwnerReference)) {
		add(p.Type, p.Ref)
		for _, d := range p.Dependents {
			add(d.Type, d.Ref, graph.OwnerReference{APIVersion: p.Ref.APIVersion, Kind: p.Ref.Kind, Name: p.Ref.Name,
				UID: p.Ref.UID})
		}
	})
}
