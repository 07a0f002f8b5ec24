package unfinalize

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// onNode is a pod that was given to a node, so that its grace period is pending when it is deleted.
func onNode(name string, finalizers ...string) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": name, "finalizers": list2any(finalizers)},
		"spec":     map[string]any{"nodeName": "gone", "containers": []any{map[string]any{"name": "c", "image": "c"}}},
	}
}

func (f *fixture) version(t graph.Type, name string) string {
	f.t.Helper()
	return f.get(t, name).GetResourceVersion()
}

// again deletes an object a second time, with the uid that it has.
func (f *fixture) again(t graph.Type, name string, policy plan.Policy, version string) {
	f.t.Helper()
	if err := f.tryAgain(t, name, policy, version); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) tryAgain(t graph.Type, name string, policy plan.Policy, version string) error {
	f.t.Helper()
	o := f.get(t, name)
	_, err := f.client.Delete(f.t.Context(), t, o.GetNamespace(), name, string(o.GetUID()), cluster.DeleteOptions{
		Policy: string(policy), ResourceVersion: version,
	})
	return err
}

// TestSecondDeleteThatEndsTheObjectTakesNoResourceVersion_API004: it is a Conflict although nothing
// has changed, and nothing is stored; so this is not the way to let go of an object that nothing
// else holds.
func TestSecondDeleteThatEndsTheObjectTakesNoResourceVersion_API004(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.make(configMapType, "alone")
	f.delete(configMapType, "alone", metav1.DeletePropagationForeground)
	before := f.version(configMapType, "alone")
	if err := f.tryAgain(configMapType, "alone", plan.Background, before); !apierrors.IsConflict(err) {
		t.Errorf("%v, want a Conflict", err)
	}
	f.is(configMapType, "alone", plan.ForegroundFinalizer)
	if now := f.version(configMapType, "alone"); now != before {
		t.Errorf("the version is %s, and was %s", now, before)
	}
}

// TestSecondDeleteReplacesThePolicy_API004: what the server is asked for last is what counts, on
// built-in and on custom objects; the finalizers of others stay.
func TestSecondDeleteReplacesThePolicy_API004(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.custom()
	for _, typ := range []graph.Type{configMapType, heldType} {
		t.Run(typ.Kind, func(t *testing.T) {
			f := &fixture{t: t, c: f.c, namespace: f.namespace, dynamic: f.dynamic, client: f.client}
			f.make(typ, "alone")
			f.delete(typ, "alone", metav1.DeletePropagationForeground)
			f.is(typ, "alone", plan.ForegroundFinalizer)
			f.again(typ, "alone", plan.Background, "")
			f.is(typ, "alone")

			f.make(typ, "held", hold)
			f.delete(typ, "held", metav1.DeletePropagationForeground)
			f.is(typ, "held", hold, plan.ForegroundFinalizer)
			f.again(typ, "held", plan.Orphan, f.version(typ, "held"))
			f.is(typ, "held", hold, plan.OrphanFinalizer)
			f.again(typ, "held", plan.Foreground, f.version(typ, "held"))
			f.is(typ, "held", hold, plan.ForegroundFinalizer)
			f.again(typ, "held", plan.Background, f.version(typ, "held"))
			f.is(typ, "held", hold)
		})
	}
}

// TestPodInItsGracePeriodIgnoresASecondDelete_API005: it answers as if it had done it.
func TestPodInItsGracePeriodIgnoresASecondDelete_API005(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(podType, onNode("waits"))
	f.delete(podType, "waits", metav1.DeletePropagationForeground)
	f.is(podType, "waits", plan.ForegroundFinalizer)
	f.again(podType, "waits", plan.Background, f.version(podType, "waits"))
	f.is(podType, "waits", plan.ForegroundFinalizer)
	if method, why := methodOf(f.get(podType, "waits"), FinalizerRef{plan.ForegroundFinalizer, "metadata.finalizers"},
		[]string{plan.ForegroundFinalizer}); method != ByPatch || why == "" {
		t.Errorf("the way is %s (%s), want a patch", method, why)
	}
}

// TestNamespaceIgnoresASecondDelete_NS003 while its spec.finalizers are not empty.
func TestNamespaceIgnoresASecondDelete_NS003(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.delete(cluster.NamespaceType, f.namespace, metav1.DeletePropagationForeground)
	f.is(cluster.NamespaceType, f.namespace, plan.ForegroundFinalizer)
	f.again(cluster.NamespaceType, f.namespace, plan.Background, f.version(cluster.NamespaceType, f.namespace))
	f.is(cluster.NamespaceType, f.namespace, plan.ForegroundFinalizer)
	if method, why := methodOf(f.get(cluster.NamespaceType, f.namespace),
		FinalizerRef{plan.ForegroundFinalizer, "metadata.finalizers"},
		[]string{plan.ForegroundFinalizer}); method != ByPatch || why == "" {
		t.Errorf("the way is %s (%s), want a patch", method, why)
	}
	f.free(cluster.NamespaceType, f.namespace)
}
