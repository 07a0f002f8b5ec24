package ownerref

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Which says which references of an object are meant. The zero Which is the only one that it has.
type Which struct {
	// Kind and Name are those of the owner, the kind as it was typed: a kind, a resource or a short
	// name, with or without its group; empty for any.
	Kind, Name string
	// Type is what the server serves by the word Kind; nil if it serves nothing by it, so that only
	// the kinds of references can tell.
	Type *graph.Type
	// UID is that of the owner; empty for any.
	UID string
	All bool
}

func (w Which) any() bool { return w.Name == "" && w.UID == "" }

// matches reports whether a reference is meant.
func (w Which) matches(r graph.OwnerReference) bool {
	if w.UID != "" && r.UID != w.UID || w.Name != "" && r.Name != w.Name {
		return false
	}
	if w.Kind == "" {
		return true
	}
	kind := strings.ToLower(r.Kind)
	return w.Type != nil && strings.EqualFold(w.Type.Kind, r.Kind) && w.Type.Group == groupOf(r) ||
		strings.EqualFold(w.Kind, kind) || groupOf(r) != "" && strings.EqualFold(w.Kind, kind+"."+groupOf(r))
}

// Disownment removes references from an object.
type Disownment struct {
	Change

	client  *cluster.Client
	catalog *cluster.Catalog
	child   selection.Object
}

// PlanDisown reads an object and its owners live, and finds which references are meant. It writes
// nothing. If several are and it does not say All, or none is, that is a refusal that lists them.
func PlanDisown(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, child selection.Object,
	which Which) (*Disownment, error) {
	d := &Disownment{client: client, catalog: catalog, child: child}
	d.Verb, d.Object = plan.VerbOrphan, child.Ref()
	now, err := client.GetMeta(ctx, child.Type, child.Namespace, child.Name)
	if err != nil {
		return nil, err
	}
	d.Object.UID = now.UID
	if d.References, err = d.choose(now, which); err != nil || d.Nothing() {
		return d, err
	}
	d.Left, d.End = d.judge(ctx, now)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	try := func(ctx context.Context) error {
		_, err := d.object().RemoveReferences(ctx, cluster.PatchOptions{DryRun: true},
			func(now *graph.Object) ([]graph.OwnerReference, error) {
				return d.removed(now), nil
			})
		return err
	}
	return d, change.Permitted(ctx, client, d.Object, right("patch", child),
		change.Enforcement{Access: right("delete", child), Try: try})
}

// object is the object that loses an owner.
func (d *Disownment) object() change.Object {
	return change.Object{Server: d.client, Type: d.child.Type, Ref: d.Object}
}

// choose finds the references that are meant, with all others that have the same uid: to the
// collector they are one (GC-024).
func (d *Disownment) choose(now *graph.Object, which Which) ([]graph.OwnerReference, error) {
	meant := slices.DeleteFunc(slices.Clone(now.Owners),
		func(r graph.OwnerReference) bool { return !which.All && !which.matches(r) })
	uids := map[string]bool{}
	for _, r := range meant {
		uids[r.UID] = true
	}
	switch {
	case len(meant) == 0 && len(now.Owners) == 0 && which.any():
		return nil, nil
	case len(meant) == 0 && len(now.Owners) == 0:
		return nil, answer.Refuse(fmt.Errorf("%s has no owner", d.Object.Quoted()))
	case len(meant) == 0:
		return nil, answer.Refuse(answer.WithHint(fmt.Errorf("%s has no such owner", d.Object.Quoted()),
			"its owners are "+list(now.Owners)))
	case len(uids) > 1 && !which.All && which.any():
		return nil, answer.Refuse(answer.WithHint(fmt.Errorf("%s has several owners: %s", d.Object.Quoted(), list(meant)),
			"name one with --owner TYPE/NAME, or remove all with --all"))
	case len(uids) > 1 && !which.All:
		return nil, answer.Refuse(answer.WithHint(fmt.Errorf("%s has several such owners: %s", d.Object.Quoted(),
			list(meant)), "name one with --owner-uid, or remove all of its references with --all"))
	}
	return slices.DeleteFunc(slices.Clone(now.Owners), func(r graph.OwnerReference) bool { return !uids[r.UID] }), nil
}

// list names references with their uids.
func list(refs []graph.OwnerReference) string {
	return strings.Join(phrase.Words(refs, func(r graph.OwnerReference) string {
		return fmt.Sprintf("%s (uid %s)", Name(r), r.UID)
	}), ", ")
}

// removed are those references of an object that are removed.
func (d *Disownment) removed(now *graph.Object) []graph.OwnerReference {
	return slices.DeleteFunc(slices.Clone(now.Owners), func(r graph.OwnerReference) bool { return !d.isRemoved(r) })
}

// isRemoved reports whether a reference is one of those that are removed.
func (d *Disownment) isRemoved(r graph.OwnerReference) bool {
	return slices.ContainsFunc(d.References, func(x graph.OwnerReference) bool { return x.UID == r.UID })
}

// judge reads the owners that are left, and says what becomes of the object.
func (d *Disownment) judge(ctx context.Context, now *graph.Object) ([]Owner, End) {
	kept := slices.DeleteFunc(slices.Clone(now.Owners), d.isRemoved)
	left := ReadOwners(ctx, d.client, d.catalog, now.Namespace, kept)
	return left, EndOf(now.DeletionTimestamp != 0, left)
}

// Dangerous reports whether the collector deletes the object afterwards, or may do so.
func (d *Disownment) Dangerous() bool { return d.End == Collected || d.End == Doubtful }

// Perform removes the references, decided again on live reads, and looks after the object. If it
// has become dangerous since it was planned, it is refused. A dry run has the server store nothing.
func (d *Disownment) Perform(ctx context.Context, dryRun bool) error {
	if d.Nothing() {
		return nil
	}
	agreed := d.Dangerous()
	opts := cluster.PatchOptions{DryRun: dryRun}
	removed, err := d.object().RemoveReferences(ctx, opts, func(now *graph.Object) ([]graph.OwnerReference, error) {
		removed := d.removed(now)
		if len(removed) == 0 {
			return nil, nil
		}
		d.Left, d.End = d.judge(ctx, now)
		if d.Dangerous() && !agreed {
			return nil, answer.Refuse(
				fmt.Errorf("%s was not changed: its owners were changed meanwhile, and the garbage collector would delete it",
					d.Object.Quoted()))
		}
		return removed, context.Cause(ctx)
	})
	back := new(cluster.PutBackError)
	switch {
	case apierrors.IsForbidden(err):
		return answer.Refuse(err)
	case errors.As(err, &back):
		return answer.Refuse(d.failed(err))
	case answer.IsRefusal(err):
		return err
	case err != nil:
		return d.failed(err)
	case len(removed) == 0:
		d.References = nil // somebody else has removed it
		return nil
	case dryRun:
		return nil
	}
	err = d.object().PutBack(ctx, d.References)
	if errors.As(err, &back) {
		return answer.Refuse(answer.WithHint(d.failed(err),
			"a controller sets itself as the owner of what its selector matches: change the labels of the object first"))
	} else if err != nil {
		return d.failed(err)
	}
	return nil
}

func (d *Disownment) failed(err error) error {
	return fmt.Errorf("disowning %s: %w", d.Object.Quoted(), err)
}
