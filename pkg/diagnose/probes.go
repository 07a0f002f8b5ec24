package diagnose

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/storage"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/workloads"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// objectProbe finds out what keeps an object, whatever its finalizers are.
type objectProbe struct {
	looksAt func(graph.ID) bool
	look    func(ctx context.Context, id graph.ID) []core.Finding
}

// finalizerProbe finds out what keeps objects because of a finalizer.
type finalizerProbe struct {
	looksAt func(ref graph.Ref, finalizer string) bool
	look    func(ctx context.Context, id graph.ID, finalizer string) []core.Finding
}

// ofObjects are the probes of objects in groups, which are asked in this order until one finds
// something. All of a group that look at an object are asked.
func (e *examiner) ofObjects() [][]objectProbe {
	return [][]objectProbe{
		{{e.goes, e.unwritten}},
		{{func(graph.ID) bool { return true }, e.strayed}}, // nothing else can be done before the namespace exists
		{{e.due, e.neverCollected}},
		{{e.lives, e.rejected}},
		{{e.due, e.uncollected}},
		{{e.lives, e.notDeleting}},
		{{e.deleted(cluster.Namespaces), e.namespace}, {e.deleted(cluster.Pods), e.pod}, {e.goes, e.byFinalizers}},
		{{e.goes, e.half}},
	}
}

// ofFinalizers are the probes by finalizer. The first that looks at one is asked, and if none does,
// who removes it (ByActor).
func (e *examiner) ofFinalizers() []finalizerProbe {
	return []finalizerProbe{
		{called(plan.ForegroundFinalizer), ofItself(e.collector.foreground)},
		{called(plan.OrphanFinalizer), ofItself(e.collector.orphan)},
		{called(link.CRDFinalizer), ofItself(e.crd)},
		{called(workloads.JobFinalizer), ofItself(e.workloads.Counted)},
		{called(actor.PVCFinalizer), ofItself(e.storage.PVC)},
		{called(actor.VolumeFinalizer), ofItself(e.storage.Bound)},
		{prefixed(cluster.PersistentVolumes, storage.AttacherFinalizer), e.storage.Attached},
		{prefixed(cluster.VolumeAttachments, storage.AttacherFinalizer), e.storage.Detaching},
		{called(storage.ProvisionerFinalizer), e.storage.Provisioned},
		{called(actor.SnapshotSourceFinalizer), ofItself(e.storage.Snapshotted)},
		{called(workloads.ReservedFinalizer), ofItself(e.workloads.Reserved)},
		{called(actor.RangeFinalizer), ofItself(e.addresses)},
	}
}

// explained returns what holds an object, followed to the roots. What an object on the way back to
// itself would add is already being looked at.
func (e *examiner) explained(ctx context.Context, id graph.ID) []core.Finding {
	if known, ok := e.settled[id]; ok {
		return known
	}
	if e.looking[id] || ctx.Err() != nil {
		return nil
	}
	e.looking[id] = true
	defer delete(e.looking, id)
	var findings []core.Finding
	for _, group := range e.ofObjects() {
		for _, p := range group {
			if p.looksAt(id) {
				findings = append(findings, p.look(ctx, id)...)
			}
		}
		if len(findings) > 0 {
			break
		}
	}
	if len(e.looking) == 1 { // what was left out because of an object that is being looked at is left out here only
		e.settled[id] = findings
	}
	return findings
}

// byFinalizers returns what holds an object because of its finalizers: of each says the first probe
// that looks at it.
func (e *examiner) byFinalizers(ctx context.Context, id graph.ID) []core.Finding {
	var each [][]core.Finding
	for _, name := range e.Graph.Finalizers(id) {
		if p, ok := e.probeOf(e.Graph.Ref(id), name); ok {
			each = append(each, p.look(ctx, id, name))
		} else {
			each = append(each, e.linked.throughLinks(ctx, id, name, e.ByActor(ctx, id, name)))
		}
	}
	return core.TellingFirst(each)
}

// probeOf returns the probe of a finalizer, if it has one of its own.
func (e *examiner) probeOf(ref graph.Ref, name string) (finalizerProbe, bool) {
	all := e.ofFinalizers()
	i := slices.IndexFunc(all, func(p finalizerProbe) bool { return p.looksAt(ref, name) })
	if i < 0 {
		return finalizerProbe{}, false
	}
	return all[i], true
}

// goes and lives say whether an object is being deleted.
func (e *examiner) goes(id graph.ID) bool  { return e.Graph.DeletionTimestamp(id) != 0 }
func (e *examiner) lives(id graph.ID) bool { return !e.goes(id) }

// due reports whether an object is to be deleted before an owner that waits for it.
func (e *examiner) due(id graph.ID) bool { return e.lives(id) && e.awaited(id) }

// deleted looks at the objects of a type that are being deleted.
func (e *examiner) deleted(resource schema.GroupResource) func(graph.ID) bool {
	return func(id graph.ID) bool { return e.goes(id) && core.OfType(resource)(e.Graph.Ref(id)) }
}

// prefixed looks at the finalizers of a prefix on objects of a type.
func prefixed(resource schema.GroupResource, prefix string) func(graph.Ref, string) bool {
	return func(ref graph.Ref, finalizer string) bool {
		return core.OfType(resource)(ref) && strings.HasPrefix(finalizer, prefix)
	}
}

// called looks at a finalizer of a name, on objects of any type.
func called(name string) func(graph.Ref, string) bool {
	return func(_ graph.Ref, finalizer string) bool { return finalizer == name }
}

// ofItself is a probe that needs not be told which finalizer it looks at.
func ofItself(look func(context.Context, graph.ID) []core.Finding) func(context.Context, graph.ID,
	string) []core.Finding {
	return func(ctx context.Context, id graph.ID, _ string) []core.Finding { return look(ctx, id) }
}
