package diagnose

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/storage"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/workloads"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// objectProbe finds out what keeps objects of some types, whatever their finalizers are.
type objectProbe struct {
	looksAt func(graph.Ref) bool
	look    func(ctx context.Context, id graph.ID) []core.Finding
}

// finalizerProbe finds out what keeps objects because of a finalizer.
type finalizerProbe struct {
	looksAt func(ref graph.Ref, finalizer string) bool
	look    func(ctx context.Context, id graph.ID, finalizer string) []core.Finding
}

// ofObjects are the probes by type. All that look at an object are asked.
func (e *examiner) ofObjects() []objectProbe {
	return []objectProbe{
		{core.OfType(cluster.Namespaces), e.namespace},
		{core.OfType(cluster.Pods), e.workloads.Pod},
	}
}

// ofFinalizers are the probes by finalizer. The first that looks at one is asked, and if none does, who removes it (byActor).
func (e *examiner) ofFinalizers() []finalizerProbe {
	return []finalizerProbe{
		{called(plan.ForegroundFinalizer), ofItself(e.collector.foreground)},
		{called(plan.OrphanFinalizer), ofItself(e.collector.orphan)},
		{called(link.CRDFinalizer), ofItself(e.crd)},
		{called(workloads.JobFinalizer), ofItself(e.workloads.Counted)},
		{called(storage.PVCFinalizer), ofItself(e.storage.PVC)},
		{called(storage.VolumeFinalizer), ofItself(e.storage.Bound)},
		{prefixed(cluster.PersistentVolumes, storage.AttacherFinalizer), e.storage.Attached},
		{prefixed(cluster.VolumeAttachments, storage.AttacherFinalizer), e.storage.Detaching},
		{called(storage.ProvisionerFinalizer), e.storage.Provisioned},
		{called(storage.SnapshotSourceFinalizer), ofItself(e.storage.Snapshotted)},
		{called(workloads.ReservedFinalizer), ofItself(e.workloads.Reserved)},
		{called(rangeFinalizer), ofItself(e.collector.addresses)},
	}
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
func ofItself(look func(context.Context, graph.ID) []core.Finding) func(context.Context, graph.ID, string) []core.Finding {
	return func(ctx context.Context, id graph.ID, _ string) []core.Finding { return look(ctx, id) }
}
