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
	look    func(e *examiner, ctx context.Context, id graph.ID) []finding
}

// finalizerProbe finds out what keeps objects because of a finalizer.
type finalizerProbe struct {
	looksAt func(ref graph.Ref, finalizer string) bool
	look    func(e *examiner, ctx context.Context, id graph.ID, finalizer string) []finding
}

// ofObjects are the probes by type. All that look at an object are asked.
func ofObjects() []objectProbe {
	return []objectProbe{
		{ofType(cluster.Namespaces), (*examiner).namespace},
		{ofType(cluster.Pods), (*examiner).pod},
	}
}

// ofFinalizers are the probes by finalizer. The first that looks at one is asked, and if none does, who removes it (byActor).
func ofFinalizers() []finalizerProbe {
	return []finalizerProbe{
		{called(plan.ForegroundFinalizer), ofItself((*examiner).foreground)},
		{called(plan.OrphanFinalizer), ofItself((*examiner).orphan)},
		{called(link.CRDFinalizer), ofItself((*examiner).crd)},
		{called(jobFinalizer), ofItself((*examiner).counted)},
		{called(pvcFinalizer), ofItself((*examiner).pvc)},
		{called(volumeFinalizer), ofItself((*examiner).bound)},
		{func(ref graph.Ref, finalizer string) bool {
			return ofType(cluster.PersistentVolumes)(ref) && strings.HasPrefix(finalizer, attacherFinalizer)
		}, (*examiner).attached},
		{func(ref graph.Ref, finalizer string) bool {
			return ofType(cluster.VolumeAttachments)(ref) && strings.HasPrefix(finalizer, attacherFinalizer)
		}, (*examiner).detaching},
		{called(provisionerFinalizer), (*examiner).provisioned},
		{called(snapshotSourceFinalizer), ofItself((*examiner).snapshotted)},
		{called(reservedFinalizer), ofItself((*examiner).reserved)},
		{called(rangeFinalizer), ofItself((*examiner).addresses)},
	}
}

// ofType looks at the objects of a type.
func ofType(resource schema.GroupResource) func(graph.Ref) bool {
	return func(ref graph.Ref) bool { return ref.Group() == resource.Group && ref.Resource == resource.Resource }
}

// called looks at a finalizer of a name, on objects of any type.
func called(name string) func(graph.Ref, string) bool {
	return func(_ graph.Ref, finalizer string) bool { return finalizer == name }
}

// ofItself is a probe that needs not be told which finalizer it looks at.
func ofItself(look func(*examiner, context.Context, graph.ID) []finding) func(*examiner, context.Context, graph.ID, string) []finding {
	return func(e *examiner, ctx context.Context, id graph.ID, _ string) []finding { return look(e, ctx, id) }
}
