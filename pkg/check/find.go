package check

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Input is what Find goes by.
type Input struct {
	Graph *graph.Graph
	// Gaps are what could not be listed. Nothing is absent in a gap.
	Gaps []v1alpha1.Gap
	// Proven are what live reads have shown of owners, and Instead what they have shown in place of
	// them, by the Index of the reference.
	Proven  map[int]plan.OwnerState
	Instead map[int]graph.Ref
	// Of says which objects are checked; nil checks all.
	Of func(graph.ID) bool
	// Read says of which objects the owners were read live, so that it is known what the collector
	// does about them; nil is all.
	Read func(graph.ID) bool
	// Collected reports whether the collector watches a type; nil watches all.
	Collected func(graph.Type) bool
	// GoneNamespaces are those that were proven not to exist.
	GoneNamespaces map[string]bool
}

// Found is what Find has found.
type Found struct {
	Findings []v1alpha1.CheckFinding
	// Objects and References are how many were checked.
	Objects, References int
}

// Find checks the objects of a graph. The findings come in the order of the objects and of their
// references; those that the collector has yet to come to are behind the others of an object.
func Find(in Input) Found {
	f := newFinder(in)
	var out Found
	for id := range in.Graph.IDs() {
		if !f.checks(id) {
			continue
		}
		out.Objects++
		out.References += in.Graph.OwnerCount(id)
		before := len(f.findings)
		f.object(id)
		if len(f.findings) == before {
			f.upcoming(id)
		}
	}
	out.Findings = f.findings
	return out
}

type finder struct {
	Input
	projection *plan.Projection
	// served are the apiVersions in which a group and kind are served.
	served map[[2]string][]graph.Type
	// actions are what the collector is going to do to an object, in its order.
	actions  map[graph.ID][]plan.Action
	findings []v1alpha1.CheckFinding
}

func newFinder(in Input) *finder {
	f := &finder{
		Input: in, projection: plan.NewProjection(in.Graph, plan.Options{Proven: in.Proven}),
		served: map[[2]string][]graph.Type{}, actions: map[graph.ID][]plan.Action{}, findings: []v1alpha1.CheckFinding{},
	}
	for _, t := range in.Graph.Types() {
		key := [2]string{t.Group, t.Kind}
		f.served[key] = append(f.served[key], t)
	}
	for _, a := range plan.NewRun(in.Graph, plan.Options{Proven: in.Proven, Gaps: in.Gaps, Allow: in.Read}).Actions {
		f.actions[a.Object] = append(f.actions[a.Object], a)
	}
	return f
}

func (f *finder) checks(id graph.ID) bool {
	return f.Graph.Observed(id) && (f.Of == nil || f.Of(id))
}

// object finds what is wrong with one object.
func (f *finder) object(id graph.ID) {
	if ns := f.namespace(id); ns != "" && f.GoneNamespaces[ns] {
		f.add(f.strayed(id, ns))
	}
	if f.Graph.OwnerCount(id) == 0 {
		return
	}
	o := f.judged(id)
	for i := range o.refs {
		if code := f.code(o, i); code != "" {
			f.add(f.reference(o, i, code))
		}
	}
	f.cycle(o)
	if !o.deleting {
		f.blocks(o)
		f.controllers(o)
		f.duplicates(o)
	}
}

func (f *finder) namespace(id graph.ID) string {
	if len(f.GoneNamespaces) == 0 {
		return ""
	}
	return f.Graph.Namespace(id)
}

// judged is an object with what is known of the owners that it names, and what the cluster's
// collector does about that.
type judged struct {
	id       graph.ID
	deleting bool
	refs     []graph.Edge
	states   []plan.OwnerState
	decision plan.Decision
	// frozen says that the collector never acts on the object: a reference can never be resolved.
	frozen bool
}

func (f *finder) judged(id graph.ID) judged {
	item, refs := f.projection.Item(id)
	o := judged{id: id, deleting: item.Deleting, refs: refs}
	for _, e := range refs {
		state := f.projection.OwnerState(e)
		if e.Problem&graph.InexactKind != 0 && state != plan.Solid {
			state = plan.Unknown // by a guess nothing is proven
		}
		if (state == plan.Solid || state == plan.Mismatch) && f.projection.Orphans(e.Owner) {
			state = plan.Orphaning // the reference is removed by the uid alone (GC-067)
		}
		o.states = append(o.states, state)
		o.frozen = o.frozen || state == plan.BadScope || state == plan.Unknown && f.unserved(e)
	}
	item.Owners = o.states
	o.decision = plan.Decide(item, plan.Upstream)
	return o
}

// unserved reports whether no API serves the kind that a reference names, and no gap can hide one.
func (f *finder) unserved(e graph.Edge) bool {
	if e.Problem&graph.Unresolvable == 0 {
		return false
	}
	group := graph.Ref{APIVersion: e.APIVersion}.Group()
	return !slices.ContainsFunc(f.Gaps, func(g v1alpha1.Gap) bool { return g.Group == group })
}

// code is what is wrong with a reference; empty if nothing is.
func (f *finder) code(o judged, i int) Code {
	e, state := o.refs[i], o.states[i]
	switch {
	case e.Problem&graph.SelfReference != 0:
		return SelfReference
	case o.deleting: // it goes, whatever its references say
		return ""
	case e.Problem&graph.Unresolvable != 0 && !f.unserved(e):
		return OwnerUnknown
	case e.Problem&graph.Unresolvable != 0 && len(f.served[groupKind(e)]) > 0:
		return VersionNotServed
	case e.Problem&graph.Unresolvable != 0:
		return KindNotServed
	case state == plan.BadScope:
		return WrongScope
	case state == plan.Mismatch && e.Problem&graph.WrongNamespace != 0:
		return WrongNamespace
	case state == plan.Mismatch && e.Problem&graph.WrongKind != 0:
		return WrongKind
	case state == plan.Mismatch && e.Problem&graph.WrongName != 0:
		return WrongName
	case state == plan.Mismatch: // it lies outside the listing
		return WrongNamespace
	case state == plan.Replaced:
		return OwnerReplaced
	case state == plan.Absent:
		return OwnerAbsent
	case e.Problem&graph.InexactKind != 0:
		return InexactKind
	case state == plan.Unknown:
		return OwnerUnknown
	case state == plan.Orphaning:
		return OwnerOrphans
	case state == plan.Waiting && o.decision.Do != plan.Nothing:
		return OwnerDeleting
	case state == plan.Solid && !f.collected(e):
		return OwnerNotCollected
	}
	return ""
}

func groupKind(e graph.Edge) [2]string {
	return [2]string{graph.Ref{APIVersion: e.APIVersion}.Group(), e.Kind}
}

// collected reports whether the collector watches the type that a reference names.
func (f *finder) collected(e graph.Edge) bool {
	if f.Collected == nil || f.Graph.Observed(e.Owner) {
		return true
	}
	t, known := f.Graph.Type(e.Owner)
	return !known || f.Collected(t)
}

func (f *finder) add(finding v1alpha1.CheckFinding) {
	finding.Severity = string(byCode[Code(finding.Code)].Severity)
	if finding.Commands == nil {
		finding.Commands = []string{}
	}
	f.findings = append(f.findings, finding)
}

// about begins a finding about a reference.
func (f *finder) about(o judged, i int, code Code) v1alpha1.CheckFinding {
	return v1alpha1.CheckFinding{Object: f.Graph.Ref(o.id), OwnerReference: new(f.Graph.Reference(o.refs[i]).Meta()),
		Index: i, Code: string(code)}
}

// passing are the codes of what a working collector sets right at once: of objects that are listed
// before their owners, some are gone when these are looked for.
var passing = []Code{OwnerAbsent, OwnerReplaced, NamespaceGone, OwnerDeleting, OwnerOrphans, OwnerCollected,
	DeletionPending}

// confirmed leaves out the findings of objects that a live read shows to be gone, to be deleted by
// now, or to have other references. An object that cannot be read keeps its findings, since it was
// listed.
func (c *checker) confirmed(ctx context.Context, findings []v1alpha1.CheckFinding) ([]v1alpha1.CheckFinding, error) {
	g := c.listing.Graph
	over := map[string]bool{} // by uid
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(c.client.Concurrency())
	asked := map[string]bool{}
	for _, f := range findings {
		id, ok := g.Lookup(f.Object.UID)
		if !ok || asked[f.Object.UID] || !slices.Contains(passing, Code(f.Code)) {
			continue
		}
		asked[f.Object.UID] = true
		t, _ := g.Type(id)
		group.Go(func() error {
			now, err := c.client.GetMeta(reading, t, f.Object.Namespace, f.Object.Name)
			if cluster.IsAbsent(err, t, f.Object.Name) || err == nil && now.UID != "" && !c.isAsListed(id, now) {
				c.mu.Lock()
				defer c.mu.Unlock()
				over[f.Object.UID] = true
			}
			return context.Cause(reading)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(findings,
		func(f v1alpha1.CheckFinding) bool { return f.Object.UID != "" && over[f.Object.UID] }), nil
}

// isAsListed reports whether an object is the one that was listed, and as far from its deletion and
// with the same references as then.
func (c *checker) isAsListed(id graph.ID, now *graph.Object) bool {
	g := c.listing.Graph
	if now.UID != g.Ref(id).UID || (now.DeletionTimestamp != 0) != (g.State(id) == graph.Deleting) ||
		len(now.Owners) != g.OwnerCount(id) {
		return false
	}
	i := 0
	for e := range g.Owners(id) {
		if now.Owners[i].UID != g.Ref(e.Owner).UID {
			return false
		}
		i++
	}
	return true
}

// Effect is what comes of what is wrong, in a word.
type Effect string

// The effects.
const (
	// DeleteObject: the collector deletes the object.
	DeleteObject Effect = "DeleteObject"
	// RemoveReference: the collector removes the reference, and keeps the object because of another
	// owner.
	RemoveReference Effect = "RemoveReference"
	// KeepObject: the collector never deletes the object, whatever happens to its owners.
	KeepObject Effect = "KeepObject"
	// BlockOwner: an owner that is deleted in the foreground is never gone.
	BlockOwner Effect = "BlockOwner"
	// BlockDeletion: once the object is deleted, it is never gone.
	BlockDeletion Effect = "BlockDeletion"
	// Reject: the server rejects the object, or its next update.
	Reject Effect = "Reject"
	// None: nothing comes of it.
	None Effect = "None"
	// Undetermined: it cannot be told.
	Undetermined Effect = "Unknown"
)
