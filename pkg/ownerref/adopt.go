package ownerref

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Adoption gives an object an owner.
type Adoption struct {
	Change

	client       *cluster.Client
	catalog      *cluster.Catalog
	child, owner selection.Object
	flags        Flags
	ownerRef     graph.Ref // with the uid that was agreed to
	wanted       graph.OwnerReference
}

// object is the object that gets an owner.
func (a *Adoption) object() change.Object {
	return change.Object{Server: a.client, Type: a.child.Type, Ref: a.Object}
}

// PlanAdopt reads an object and its new owner live, and checks that it may have it. It writes
// nothing. What is wrong is a refusal; an object that does not exist is the server's error.
func PlanAdopt(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, child, owner selection.Object,
	flags Flags) (*Adoption, error) {
	a := &Adoption{client: client, catalog: catalog, child: child, owner: owner, flags: flags}
	a.Verb, a.Object, a.ownerRef = VerbAdopt, child.Ref(), owner.Ref()
	if err := checkTypes(child.Type, owner.Type); err != nil {
		return nil, a.refuse(err)
	}
	now, err := client.GetMeta(ctx, child.Type, child.Namespace, child.Name)
	if err != nil {
		return nil, err
	}
	above, err := client.GetMeta(ctx, owner.Type, owner.Namespace, owner.Name)
	switch {
	case cluster.IsAbsent(err, owner.Type, owner.Name) && owner.Namespaced:
		return nil, answer.WithHint(err,
			fmt.Sprintf("an owner is looked for in the namespace of its dependent, %s", owner.Namespace))
	case err != nil:
		return nil, err
	}
	a.Object.UID, a.ownerRef.UID = now.UID, above.UID
	pair, err := a.pair(ctx, now)
	if err != nil {
		return nil, err
	}
	if steps(pair) != nil {
		a.References = []graph.OwnerReference{pair.wanted()}
	}
	a.warn(pair)
	return a, a.permitted(ctx)
}

// refuse says that the object was not adopted, and why.
func (a *Adoption) refuse(err error) error {
	return answer.Refuse(fmt.Errorf("%s cannot be adopted by %s: %w", a.Object.Quoted(), a.ownerRef.TypeName(), err))
}

// pair reads the owner live, and all that owns it, and checks that the object may have it.
func (a *Adoption) pair(ctx context.Context, now *graph.Object) (Pair, error) {
	above, err := change.Object{Server: a.client, Type: a.owner.Type, Ref: a.ownerRef}.Read(ctx)
	switch {
	case change.IsOver(err):
		return Pair{}, a.refuse(fmt.Errorf("the owner was changed meanwhile: %w", err))
	case err != nil:
		return Pair{}, err
	}
	p := Pair{ChildType: a.child.Type, OwnerType: a.owner.Type, Child: now, Owner: above, Flags: a.flags}
	if err := p.Check(); err != nil {
		return p, a.refuse(err)
	}
	way, unread, err := a.upwards(ctx, p)
	switch {
	case err != nil:
		return p, err
	case way != nil:
		// GC-064
		return p, a.refuse(fmt.Errorf("it owns that%s, and the collector would never delete the members of the cycle",
			wayWords(way)))
	case unread != "" && a.Warnings == nil:
		a.Warnings = append(a.Warnings, unread)
	}
	return p, nil
}

// warn notes what is allowed and may not be what is wanted.
func (a *Adoption) warn(p Pair) {
	if !a.owner.Deletable() {
		a.Warnings = append(a.Warnings,
			fmt.Sprintf("the garbage collector does not watch %s: it notices up to 1000 s late that the owner is deleted",
				a.owner.Ref().QualifiedResource()))
	}
	for _, r := range p.Child.Owners {
		if r.UID != p.Owner.UID && r.Kind == p.OwnerType.Kind && groupOf(r) == p.OwnerType.Group && r.Name == p.Owner.Name {
			a.Warnings = append(a.Warnings,
				fmt.Sprintf("it also has a reference to an earlier %s, with uid %s; kubectl gc check --fix removes it",
					Name(r), r.UID))
		}
	}
}

// permitted refuses what the user may not do, as far as the server says so, before anything is
// written.
func (a *Adoption) permitted(ctx context.Context) error {
	if a.Nothing() {
		return nil
	}
	tried := sync.OnceValue(func() error { return a.set(ctx, cluster.PatchOptions{DryRun: true}) })
	try := func(context.Context) error { return tried() } // one write asks for both rights
	rights := []change.Enforcement{{Access: right("delete", a.child), Try: try}}
	if a.References[0].Block {
		finalizers := right("update", a.owner)
		finalizers.Subresource = "finalizers"
		rights = append(rights, change.Enforcement{Access: finalizers, Try: try})
	}
	return change.Permitted(ctx, a.client, a.Object, right("patch", a.child), rights...)
}

// Perform sets the reference, decided again on live reads, and looks after it. If the owner is
// found to be gone after the write, the reference is removed again: the collector would delete the
// object. A dry run has the server store nothing.
func (a *Adoption) Perform(ctx context.Context, dryRun bool) error {
	if a.Nothing() {
		return nil
	}
	switch err := a.set(ctx, cluster.PatchOptions{DryRun: dryRun}); {
	case apierrors.IsForbidden(err):
		return answer.Refuse(err)
	case err != nil:
		return a.failed(err)
	case dryRun:
		return nil
	}
	if err := a.ownerLives(ctx); err != nil {
		return err
	}
	back, err := a.object().Undone(ctx, func(now *graph.Object) bool { return !slices.Contains(now.Owners, a.wanted) })
	switch {
	case back:
		return answer.Refuse(a.failed(errors.New("the reference was set, and somebody has changed it since")))
	case err != nil:
		return a.failed(err)
	}
	return nil
}

// set sends the reference, decided on live reads.
func (a *Adoption) set(ctx context.Context, opts cluster.PatchOptions) error {
	_, err := a.object().Patch(ctx, change.Patch{
		PatchOptions: opts,
		Decide: func(now *graph.Object) ([]cluster.PatchStep, error) {
			pair, err := a.pair(ctx, now)
			if err != nil {
				return nil, err
			}
			a.wanted = pair.wanted()
			return steps(pair), nil
		},
		Verify: func(answered *graph.Object) error {
			if !slices.Contains(answered.Owners, a.wanted) {
				return change.ErrNotShown
			}
			return nil
		},
	})
	return err
}

// failed names the object in an error that does not. What ended the command, and a refusal, stay as
// they are.
func (a *Adoption) failed(err error) error {
	if answer.IsRefusal(err) {
		return err
	}
	return fmt.Errorf("adopting %s by %s: %w", a.Object.Quoted(), a.ownerRef.TypeName(), err)
}

// ownerLives reads the owner after the write. If it is gone or goes, the reference is removed
// again: it was read right before the write, and deleted since.
func (a *Adoption) ownerLives(ctx context.Context) error {
	o := readOwner(ctx, a.client, a.catalog, a.child.Namespace, a.wanted)
	if o.State == plan.Solid && o.Object.DeletionTimestamp == 0 || o.State == plan.Unknown {
		return nil
	}
	_, err := a.object().RemoveReferences(ctx, cluster.PatchOptions{},
		func(*graph.Object) ([]graph.OwnerReference, error) {
			return []graph.OwnerReference{a.wanted}, nil
		})
	if err != nil {
		return a.failed(
			fmt.Errorf("the owner was deleted meanwhile, and removing the reference again failed, so that the collector may delete the object: %w", err))
	}
	return a.refuse(errors.New("the owner was deleted meanwhile; the reference was removed again"))
}

// steps set the wanted reference; none if it is there.
func steps(p Pair) []cluster.PatchStep {
	wanted := p.wanted()
	had, ok := p.existing()
	switch {
	case ok && had == wanted:
		return nil
	case ok:
		at := slices.Index(p.Child.Owners, had)
		var changes []cluster.PatchStep
		if had.Controller != wanted.Controller {
			changes = append(changes, change.SetInReference(at, had.UID, "controller", wanted.Controller)...)
		}
		if had.Block != wanted.Block {
			changes = append(changes, change.SetInReference(at, had.UID, "blockOwnerDeletion", wanted.Block)...)
		}
		return changes
	}
	r := map[string]any{"apiVersion": wanted.APIVersion, "kind": wanted.Kind, "name": wanted.Name, "uid": wanted.UID}
	if wanted.Controller {
		r["controller"] = true
	}
	if wanted.Block {
		r["blockOwnerDeletion"] = true
	}
	n := len(p.Child.Owners)
	return []cluster.PatchStep{change.AddReference(n, n, r)}
}
