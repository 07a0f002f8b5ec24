package diagnose

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// objectProbe finds out what keeps objects of some types, whatever their finalizers are.
type objectProbe struct {
	looksAt func(graph.Ref) bool
	look    func(ctx context.Context, id graph.ID) []finding
}

// finalizerProbe finds out what keeps objects because of a finalizer.
type finalizerProbe struct {
	looksAt func(ref graph.Ref, finalizer string) bool
	look    func(ctx context.Context, id graph.ID, finalizer string) []finding
}

// ofObjects are the probes by type. All that look at an object are asked.
func (e *examiner) ofObjects() []objectProbe {
	return []objectProbe{
		{ofType(cluster.Namespaces), e.namespace},
		{ofType(cluster.Pods), e.workloads.pod},
	}
}

// ofFinalizers are the probes by finalizer. The first that looks at one is asked, and if none does, who removes it (byActor).
func (e *examiner) ofFinalizers() []finalizerProbe {
	return []finalizerProbe{
		{called(plan.ForegroundFinalizer), ofItself(e.collector.foreground)},
		{called(plan.OrphanFinalizer), ofItself(e.collector.orphan)},
		{called(link.CRDFinalizer), ofItself(e.crd)},
		{called(jobFinalizer), ofItself(e.workloads.counted)},
		{called(pvcFinalizer), ofItself(e.storage.pvc)},
		{called(volumeFinalizer), ofItself(e.storage.bound)},
		{prefixed(cluster.PersistentVolumes, attacherFinalizer), e.storage.attached},
		{prefixed(cluster.VolumeAttachments, attacherFinalizer), e.storage.detaching},
		{called(provisionerFinalizer), e.storage.provisioned},
		{called(snapshotSourceFinalizer), ofItself(e.storage.snapshotted)},
		{called(reservedFinalizer), ofItself(e.workloads.reserved)},
		{called(rangeFinalizer), ofItself(e.collector.addresses)},
	}
}

// prefixed looks at the finalizers of a prefix on objects of a type.
func prefixed(resource schema.GroupResource, prefix string) func(graph.Ref, string) bool {
	return func(ref graph.Ref, finalizer string) bool {
		return ofType(resource)(ref) && strings.HasPrefix(finalizer, prefix)
	}
}

// called looks at a finalizer of a name, on objects of any type.
func called(name string) func(graph.Ref, string) bool {
	return func(_ graph.Ref, finalizer string) bool { return finalizer == name }
}

// ofItself is a probe that needs not be told which finalizer it looks at.
func ofItself(look func(context.Context, graph.ID) []finding) func(context.Context, graph.ID, string) []finding {
	return func(ctx context.Context, id graph.ID, _ string) []finding { return look(ctx, id) }
}
