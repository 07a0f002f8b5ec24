package rescue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// Request says how an object is to be rescued.
type Request struct {
	// Archive is the file of the archive; empty for defaultArchive. If it exists, the rescue that
	// it is of goes on.
	Archive string
	// Overrides are the refusals that are overridden.
	Overrides Overrides
	// DryRun sends the writes that can be sent before the others with dryRun=All, so that what the
	// server refuses is refused in the plan.
	DryRun bool
	// OnGaps is told what could not be listed in the search for dependents; nil if nobody is.
	OnGaps func([]v1alpha1.Gap)
}

// Planned says what is to be done to rescue an object, and what speaks against it.
type Planned struct {
	Type graph.Type
	// Ref is the object with the uid that it had, and Now the object as it is if it was created
	// again.
	Ref, Now graph.Ref
	Stage    Stage
	// Archive is the file that has, or is to have, the object. Resumed says that it exists.
	Archive string
	Resumed bool
	// Object is the object as it is, or as the archive has it.
	Object *unstructured.Unstructured
	// Dependents are those whose references are removed and put back.
	Dependents []*Dependent
	// Volume is the PersistentVolume of a claim, as long as it is bound to the old uid; nil for
	// none.
	Volume *graph.Ref
	// Lost are dependents that are being deleted themselves.
	Lost []graph.Ref
	// Finalizers says how the object is freed; nil if it is not there any more.
	Finalizers *unfinalize.Planned
	// Refusals are what speaks against it besides what Finalizers has.
	Refusals  []unfinalize.Refusal
	Overrides Overrides
	// Gaps are what could not be listed.
	Gaps []v1alpha1.Gap

	record  *Record
	cluster string
	// changed says that the object is not what the archive has.
	changed bool
	volumes graph.Type
}

// Plan reads the object of a query and its dependents, and the archive if there is one, and says
// what is to be done. It writes nothing; with Request.DryRun it sends dry runs. The error is a
// refusal if there is nothing that could be rescued, and otherwise the server's or about the
// archive.
func Plan(ctx context.Context, q *selection.Query, known *finalizer.Registry, req Request) (*Planned, error) {
	if len(q.Objects) != 1 {
		return nil, fmt.Errorf("one object is rescued at a time, and %d were named", len(q.Objects))
	}
	p, live, err := begin(ctx, q, req)
	if err != nil {
		return nil, err
	}
	if err := p.list(ctx, q, req); err != nil {
		return nil, err
	}
	if err := p.readLive(ctx, q.Client); err != nil {
		return nil, err
	}
	reader := cluster.NewReader(q.Client, q.Catalog)
	if p.Stage == Held {
		if err := p.assess(ctx, q.Client, reader, known); err != nil {
			return nil, err
		}
		p.weigh(ctx, reader, live)
	}
	if p.Stage == Held || p.Stage == Gone {
		p.weighRun()
	}
	p.readVolume(ctx, q.Client, q.Catalog)
	p.rights(ctx, q.Client)
	if req.DryRun && len(p.Against()) == 0 {
		err = p.dryRun(ctx, q.Client, reader, known)
	}
	return p, err
}

// begin finds out where the rescue stands.
func begin(ctx context.Context, q *selection.Query, req Request) (*Planned, *unstructured.Unstructured, error) {
	object := q.Objects[0]
	t, ref := object.Type, object.Ref()
	live, missing := q.Client.GetObject(ctx, t, ref.Namespace, ref.Name)
	if missing != nil && !cluster.IsAbsent(missing, t, ref.Name) {
		return nil, nil, missing
	}
	if live != nil {
		ref = t.RefOf(live)
	}
	p := &Planned{Type: t, Ref: ref, Archive: req.Archive, Overrides: req.Overrides, Object: live}
	if p.Archive == "" && live != nil {
		p.Archive = defaultArchive(ref)
	}
	var err error
	if p.record, p.Resumed, err = recorded(p.Archive, ref); err != nil {
		return nil, nil, err
	}
	switch {
	case p.Resumed:
		p.Ref.UID = string(p.record.Object.GetUID())
		if p.Object == nil || string(p.Object.GetUID()) != p.Ref.UID {
			p.Object = p.record.Object
		}
	case live == nil && req.Archive != "":
		return nil, nil, answer.Refuse(fmt.Errorf("%s does not exist, and there is no archive %s to create it from",
			ref.Quoted(), req.Archive))
	case live == nil:
		return nil, nil, answer.WithHint(missing, resumeHint(ref))
	}
	p.Stage = p.stageOf(live)
	if p.Stage == Created {
		p.Now = t.RefOf(live)
	}
	if p.cluster, err = q.Client.Identity(ctx); err != nil {
		return nil, nil, err
	}
	if err := p.refused(live); err != nil {
		return nil, nil, err
	}
	if p.Resumed && (p.record.Cluster == "" || p.cluster == "") {
		p.refuse(UnknownCluster, unfinalize.WithForce, "whether "+p.Archive+" is an archive of this cluster is not known",
			"ask for permission to get the namespace kube-system")
	}
	return p, live, nil
}

// resumeHint says how a rescue goes on whose object is gone; it names the archive if there is one
// in the current directory.
func resumeHint(ref graph.Ref) string {
	ref.UID = "*"
	file := "FILE"
	if found, err := filepath.Glob(defaultArchive(ref)); err == nil && len(found) == 1 {
		file = found[0]
	}
	return "a rescue that was interrupted goes on with " + phrase.Command("--archive", file)
}

// recorded reads an archive, if there is one.
func recorded(file string, ref graph.Ref) (*Record, bool, error) {
	if file == "" {
		return nil, false, nil
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	r, err := Read(file, ref)
	return r, err == nil, err
}

// refused is the refusal of what cannot be rescued at all.
func (p *Planned) refused(live *unstructured.Unstructured) error {
	switch {
	case p.Resumed && p.record.Cluster != "" && p.cluster != "" && p.record.Cluster != p.cluster:
		return answer.Refuse(fmt.Errorf("%s is an archive of another cluster", p.Archive))
	case p.Stage == Alive:
		err := fmt.Errorf("nothing was changed: %s is not being deleted", p.Ref.Quoted())
		if from := live.GetAnnotations()[restore.RestoredFrom]; from != "" && !p.Resumed {
			return answer.Refuse(answer.WithHint(err,
				"it was created again; if that rescue was interrupted, name its archive with --archive FILE"))
		}
		return answer.Refuse(err)
	case p.Stage == Replaced:
		return p.replaced(live)
	}
	return nil
}

// replaced is the refusal to take another object for the one that was rescued.
func (p *Planned) replaced(live *unstructured.Unstructured) error {
	if live.GetDeletionTimestamp() != nil && p.isRestored(live) {
		return answer.Refuse(fmt.Errorf("%s was created again and is being deleted again", p.Ref.Quoted()))
	}
	who := "another client"
	if fields := live.GetManagedFields(); len(fields) > 0 && fields[0].Manager != "" {
		who = fmt.Sprintf("%q", fields[0].Manager)
	}
	return answer.Refuse(answer.WithHint(
		fmt.Errorf("%s was created by %s and not by this rescue: its dependents are left without references to it",
			p.Ref.Quoted(), who),
		"if it may own them, give them references to it with kubectl gc adopt; "+p.Archive+" names them"))
}

// list lists the dependents and adds them to those that the archive has.
func (p *Planned) list(ctx context.Context, q *selection.Query, req Request) error {
	if p.record != nil {
		p.Dependents = slices.Clone(p.record.Dependents)
	}
	listed, err := q.List(ctx)
	if err != nil {
		return err
	}
	p.Gaps = listed.Graph.Hiding(listed.Gaps, p.Ref)
	if req.OnGaps != nil {
		req.OnGaps(p.Gaps)
	}
	if len(p.Gaps) > 0 && p.Stage != Created {
		p.refuse(unfinalize.HiddenDependents, unfinalize.Never,
			"types that may contain dependents could not be listed, and such dependents would be deleted",
			"make these types available, or ask for permission to list them")
	}
	p.add(dependentsOf(listed.Graph, p.Ref.UID))
	return nil
}

// add adds dependents that are not known yet, and reports whether there are any.
func (p *Planned) add(found []*Dependent) bool {
	grown := false
	for _, d := range found {
		known := func(other *Dependent) bool { return other.Ref.UID == d.Ref.UID }
		if !slices.ContainsFunc(p.Dependents, known) &&
			!slices.ContainsFunc(p.Lost, func(ref graph.Ref) bool { return ref.UID == d.Ref.UID }) {
			p.Dependents = append(p.Dependents, d)
			grown = true
		}
	}
	return grown
}

// readLive reads the dependents: what their references say exactly, and which of them are being
// deleted. One that is gone is left out.
func (p *Planned) readLive(ctx context.Context, client *cluster.Client) error {
	gone := make([]error, len(p.Dependents))
	if err := cluster.EachUntil(ctx, client, p.Dependents, func(ctx context.Context, i int, d *Dependent) error {
		o, err := read(ctx, client, d)
		if isEnd(err) {
			gone[i] = err
			return nil
		}
		if err != nil {
			return &cluster.UnreadError{Type: d.Type, Namespace: d.Ref.Namespace, Name: d.Ref.Name, Err: err}
		}
		exact := referencesTo(o, p.Ref.UID)
		if d.Released = len(exact) == 0; !d.Released {
			d.found(exact)
		}
		return nil
	}); err != nil {
		return err
	}
	var kept []*Dependent
	for i, d := range p.Dependents {
		switch {
		case gone[i] == nil:
			kept = append(kept, d)
		case errors.Is(gone[i], errDeleting):
			p.Lost = append(p.Lost, d.Ref)
		}
	}
	p.Dependents = kept
	return nil
}

// in is a dependent on a server.
func (d *Dependent) in(client *cluster.Client) change.Object {
	return change.Object{Server: client, Type: d.Type, Ref: d.Ref}
}

// read reads a dependent. The error is one of isEnd, or the server's.
func read(ctx context.Context, client *cluster.Client, d *Dependent) (*unstructured.Unstructured, error) {
	o, err := d.in(client).ReadMetadata(ctx)
	if err == nil && o.GetDeletionTimestamp() != nil {
		err = errDeleting
	}
	return o, err
}

// isEnd reports whether an error is of a dependent to which nothing is to be done any more.
func isEnd(err error) bool { return change.IsOver(err) || errors.Is(err, errDeleting) }
