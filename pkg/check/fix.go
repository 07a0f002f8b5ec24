package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Fix is what can be done about one object: to remove references to owners that do not exist, while
// another owner does. The collector would remove the same ones (GC-053), so the object stays in any
// case.
type Fix struct {
	Object graph.Ref
	Type   graph.Type
	// Removed are the references, and Because says of each why, in a clause.
	Removed []graph.OwnerReference
	Because []string
	// Keeper is the reference to an owner that exists.
	Keeper graph.OwnerReference

	// was is the object as it was read, and proposed are the references of its findings.
	was      *graph.Object
	proposed []graph.OwnerReference
}

// LeftAlone is an object with such a finding that is not fixed, and why.
type LeftAlone struct {
	Object  graph.Ref
	Because error
}

// Fixes are what can be done about the findings of a report.
type Fixes struct {
	Report *v1alpha1.CheckReport
	Fixes  []*Fix
	// Left are objects whose findings could be fixed when they were listed.
	Left []LeftAlone

	client  *cluster.Client
	catalog *cluster.Catalog
}

// fixable are the codes of references to owners that were proven not to exist.
var fixable = []Code{OwnerAbsent, OwnerReplaced}

// isFixable reports whether the collector would remove the reference of a finding and keep the
// object.
func isFixable(f v1alpha1.CheckFinding) bool {
	return f.OwnerReference != nil && slices.Contains(fixable, Code(f.Code)) && Effect(f.Effect) == RemoveReference
}

// PlanFixes reads the objects of a report live, with their owners, and finds out which findings can
// be fixed. It writes nothing. The error is for what every request would meet, or a refusal if the
// user may not change one of the objects.
func PlanFixes(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog,
	report *v1alpha1.CheckReport) (*Fixes, error) {
	p := &Fixes{Report: report, client: client, catalog: catalog}
	byUID := map[string]*Fix{}
	var candidates []*Fix
	for _, f := range report.Findings {
		if !isFixable(f) {
			continue
		}
		fix := byUID[f.Object.UID]
		if fix == nil {
			fix = &Fix{Object: f.Object}
			r, known := catalog.Lookup(schema.GroupResource{Group: fix.Object.Group(), Resource: f.Object.Resource})
			if !known {
				continue
			}
			fix.Type = r.Type
			byUID[f.Object.UID] = fix
			candidates = append(candidates, fix)
		}
		fix.proposed = append(fix.proposed, graph.ReferenceOf(*f.OwnerReference))
	}
	errs := make([]error, len(candidates))
	cluster.Each(client, candidates, func(i int, fix *Fix) { errs[i] = p.look(ctx, fix) })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i, fix := range candidates {
		if errs[i] != nil {
			p.Left = append(p.Left, LeftAlone{fix.Object, errs[i]})
			continue
		}
		p.Fixes = append(p.Fixes, fix)
	}
	return p, p.permitted(ctx)
}

// object is the object that is fixed.
func (p *Fixes) object(fix *Fix) change.Object {
	return change.Object{Server: p.client, Type: fix.Type, Ref: fix.Object}
}

// look reads an object and decides about it.
func (p *Fixes) look(ctx context.Context, fix *Fix) error {
	now, err := p.object(fix).Read(ctx)
	if err != nil {
		return err
	}
	return p.decide(ctx, fix, now)
}

// Why an object is left alone.
var (
	errDeleting     = errors.New("it is being deleted")
	errNoReference  = errors.New("the reference was removed already")
	errOwnerExists  = errors.New("the owner is not proven to be absent any more")
	errNoKeeper     = errors.New("no other owner of it is alive, so that the garbage collector deletes it")
	errSameUID      = errors.New("another reference of it has the same uid, and the garbage collector removes both")
	errUnresolvable = errors.New("another reference of it cannot be resolved, so that the garbage collector removes none")
)

// decide finds the references that can be removed from an object as it is now, by live reads of all
// of its owners and by the collector's own decision.
func (p *Fixes) decide(ctx context.Context, fix *Fix, now *graph.Object) error {
	if now.DeletionTimestamp != 0 {
		return errDeleting
	}
	if !slices.ContainsFunc(now.Owners, func(r graph.OwnerReference) bool { return slices.Contains(fix.proposed, r) }) {
		return errNoReference
	}
	owners := ownerref.ReadOwners(ctx, p.client, p.catalog, now.Namespace, now.Owners)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	decision := plan.Decide(plan.Item{Owners: ownerref.States(owners)}, plan.Upstream)
	fix.was, fix.Removed, fix.Because = now, nil, nil
	kept := map[string]bool{}
	for i, o := range owners {
		gone := o.State == plan.Absent || o.State == plan.Replaced
		switch {
		case gone && slices.Contains(fix.proposed, o.Reference) && slices.Contains(decision.RemoveOwnerRefs, i):
			fix.Removed = append(fix.Removed, o.Reference)
			fix.Because = append(fix.Because, absence(o))
		case o.State == plan.Solid && !kept[o.Reference.UID]:
			fix.Keeper = o.Reference
			fallthrough
		default:
			kept[o.Reference.UID] = true
		}
	}
	switch {
	case slices.ContainsFunc(fix.Removed, func(r graph.OwnerReference) bool { return kept[r.UID] }):
		return errSameUID
	case len(fix.Removed) > 0:
		return nil
	case decision.Do == plan.Delete:
		return errNoKeeper
	case decision.Do == plan.Unresolvable:
		return errUnresolvable
	}
	return errOwnerExists
}

// absence says why a reference is removed.
func absence(o ownerref.Owner) string {
	owner := graph.Located(o.Reference.Kind, "", o.Reference.Name)
	if o.State == plan.Replaced {
		return fmt.Sprintf("%s was created again, and has another uid", owner)
	}
	return owner + " does not exist"
}

// permitted refuses all if one of the objects may not be changed: half a plan is not the plan.
func (p *Fixes) permitted(ctx context.Context) error {
	var denied []string
	for i, _ := range change.Denied(ctx, p.client, p.rights("patch")) { // the linter takes what is left out for an error
		denied = append(denied, p.Fixes[i].Object.Quoted())
	}
	if len(denied) > 0 {
		return mayNot("patch %s", denied)
	}
	return p.enforced(ctx)
}

// rights are the rights to do something to each of the objects.
func (p *Fixes) rights(verb string) []cluster.Access {
	rights := make([]cluster.Access, len(p.Fixes))
	for i, fix := range p.Fixes {
		rights[i] = cluster.AccessTo(verb, "", fix.Type, fix.Object)
	}
	return rights
}

// enforced refuses all if the server asks for the right to delete an object whose references are
// changed, and the user does not have it.
func (p *Fixes) enforced(ctx context.Context) error {
	rights := make([]change.Enforcement, len(p.Fixes))
	for i, access := range p.rights("delete") {
		rights[i] = change.Enforcement{Access: access, Try: func(ctx context.Context) error {
			fix := p.Fixes[i]
			_, err := p.object(fix).RemoveReferences(ctx, cluster.PatchOptions{DryRun: true},
				func(*graph.Object) ([]graph.OwnerReference, error) { return fix.Removed, nil })
			return err
		}}
	}
	denied := phrase.Words(change.Enforced(ctx, p.client, rights), func(missing cluster.MissingRight) string {
		return missing.Type.Ref(missing.Namespace, missing.Name, "").Quoted()
	})
	if len(denied) > 0 {
		return mayNot("delete %s, which the server requires for a change of owner references", denied)
	}
	return context.Cause(ctx)
}

// mayNot is the refusal of a plan of which some objects may not be changed.
func mayNot(what string, denied []string) error {
	return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was removed: you may not "+what,
		phrase.FirstFew(denied, phrase.MaxNamed)),
		change.AskForPermission+", or name the objects that you may change"))
}

// Count is how many references are removed.
func (p *Fixes) Count() int {
	n := 0
	for _, fix := range p.Fixes {
		n += len(fix.Removed)
	}
	return n
}
