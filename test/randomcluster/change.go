package randomcluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Release takes the test's finalizer off what of a cascade is being deleted, and reports whether it
// was on something.
func (w *World) Release(ctx context.Context, namespace string, cascade map[types.UID]bool) (held bool, err error) {
	return w.release(ctx, namespace, label+"="+namespace, cascade)
}

// ReleaseAll does that in all random clusters.
func (w *World) ReleaseAll(ctx context.Context, cascade map[types.UID]bool) error {
	_, err := w.release(ctx, metav1.NamespaceAll, label, cascade)
	return err
}

func (w *World) release(ctx context.Context, namespace, selector string, cascade map[types.UID]bool) (held bool, err error) {
	for _, k := range kinds {
		objects, err := w.resource(k.Kind, namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return held, err
		}
		for i := range objects.Items {
			o := &objects.Items[i]
			at := slices.Index(o.GetFinalizers(), hold)
			if o.GetDeletionTimestamp() == nil || at < 0 || !cascade[o.GetUID()] {
				continue
			}
			held = true
			patch := fmt.Sprintf(
				`[{"op":"test","path":"/metadata/finalizers/%d","value":%q},{"op":"remove","path":"/metadata/finalizers/%d"}]`, at,
				hold, at)
			_, err := w.resource(k.Kind, o.GetNamespace()).Patch(ctx, o.GetName(), types.JSONPatchType, []byte(patch),
				metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
				return held, err
			}
		}
	}
	return held, nil
}

// Wipe removes all objects of random clusters, whatever holds them, so that later listings are
// short. The namespaces stay.
func (w *World) Wipe(ctx context.Context, namespaces map[string]bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, k := range kinds {
		objects, err := w.resource(k.Kind, metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: label})
		if err != nil {
			return err
		}
		for i := range objects.Items {
			if namespaces[objects.Items[i].GetLabels()[label]] {
				group.Go(func() error { return w.wipe(ctx, &objects.Items[i]) })
			}
		}
	}
	return group.Wait()
}

func (w *World) wipe(ctx context.Context, o *unstructured.Unstructured) error {
	client := w.resource(o.GetKind(), o.GetNamespace())
	if len(o.GetFinalizers()) > 0 {
		_, err := client.Patch(ctx, o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
			metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	background := metav1.DeletePropagationBackground
	if err := client.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background}); err != nil &&
		!apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// Canary waits until the collector has collected a new object whose owner is absent: it has then
// seen what came before.
func (w *World) Canary(ctx context.Context, namespace string) error {
	for range 2 {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		o.SetGenerateName("canary-")
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "nobody",
			UID: types.UID(namespace + "-absent")}})
		client := w.resource("ConfigMap", namespace)
		created, err := client.Create(ctx, o, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		for began := time.Now(); ; {
			if _, err := client.Get(ctx, created.GetName(), metav1.GetOptions{}); apierrors.IsNotFound(err) {
				break
			}
			if time.Since(began) > time.Minute {
				return fmt.Errorf("the collector has not collected a canary in %s for a minute", namespace)
			}
			select {
			case <-time.After(testcluster.Between(time.Since(began))):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// Clear removes the cluster-scoped objects of a random cluster, which no namespace takes along.
func (w *World) Clear(namespace string) {
	ctx := context.Background()
	_ = w.resource("ClusterRole", "").DeleteCollection(ctx, metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: label + "=" + namespace})
}

// Delete deletes an object, if it is still there, with a policy; for dryRun metav1.DryRunAll the
// server only reports whether it would.
func (w *World) Delete(ctx context.Context, r graph.Ref, policy string, dryRun ...string) error {
	uid := types.UID(r.UID)
	propagation := metav1.DeletionPropagation(policy)
	err := w.resource(r.Kind, r.Namespace).Delete(ctx, r.Name,
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &propagation, DryRun: dryRun})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // a root that another root's deletion took
	}
	return err
}
