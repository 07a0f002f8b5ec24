package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// kinds are what the random clusters are made of: two built-in types, a custom one, and a cluster-scoped one.
var kinds = []graph.Type{
	{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true},
	{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true},
	{Group: "plan.example.com", Version: "v1", Resource: "things", Kind: "Thing", Namespaced: true},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Kind: "ClusterRole"},
}

// hold is the finalizer that nobody takes off until the test does.
const hold = "example.com/hold"

// label marks the objects of one random cluster, of which the cluster-scoped ones are in no namespace.
const label = "plan.example.com/graph"

// world is where random clusters are made.
type world struct {
	cluster *testcluster.Cluster
	client  dynamic.Interface
}

func newWorld(t *testing.T, c *testcluster.Cluster) *world {
	t.Helper()
	c.StopControllers(t)
	c.Apply(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.plan.example.com}
spec:
  group: plan.example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
	c.Kubectl(t, "wait", "--for=condition=Established", "crd/things.plan.example.com")
	c.StartControllers(t, testcluster.Collector) // which reads its types at the start, and then every 30 s
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &world{cluster: c, client: client}
}

func (w *world) resource(kind, namespace string) dynamic.ResourceInterface {
	for _, k := range kinds {
		if k.Kind == kind {
			r := w.client.Resource(schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource})
			if k.Namespaced {
				return r.Namespace(namespace)
			}
			return r
		}
	}
	return nil
}

// create makes a random cluster: a few objects with owners among those before them, some references that are wrong, some
// finalizers, and now and then a cycle.
func (w *world) create(ctx context.Context, namespace string, rng *rand.Rand) error {
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}}
	if _, err := w.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	var made []*unstructured.Unstructured
	for i := range 3 + rng.IntN(10) {
		kind := kinds[rng.IntN(3)]
		if rng.IntN(8) == 0 {
			kind = kinds[3]
		}
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetAPIVersion(kind.APIVersion())
		o.SetKind(kind.Kind)
		o.SetName(fmt.Sprintf("o%02d", i))
		if !kind.Namespaced {
			o.SetName(namespace + o.GetName())
		} else {
			o.SetNamespace(namespace)
		}
		o.SetLabels(map[string]string{label: namespace})
		o.SetFinalizers(randomFinalizers(rng))
		o.SetOwnerReferences(randomOwners(made, rng))
		created, err := w.resource(kind.Kind, namespace).Create(ctx, o, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made = append(made, created)
	}
	if len(made) > 2 && rng.IntN(6) == 0 {
		return w.close(ctx, made[rng.IntN(len(made)/2)], made[len(made)/2+rng.IntN(len(made)-len(made)/2)], rng)
	}
	return nil
}

// close makes an object own one that came before it, which may make a cycle.
func (w *world) close(ctx context.Context, dependent, owner *unstructured.Unstructured, rng *rand.Rand) error {
	refs := append(dependent.GetOwnerReferences(), reference(owner, rng))
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": refs, "uid": dependent.GetUID()}})
	if err != nil {
		return err
	}
	_, err = w.resource(dependent.GetKind(), dependent.GetNamespace()).Patch(ctx, dependent.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return nil // the collector has taken it already
	}
	return err
}

func randomFinalizers(rng *rand.Rand) []string {
	var finalizers []string
	if rng.IntN(8) == 0 {
		finalizers = append(finalizers, hold)
	}
	switch rng.IntN(16) {
	case 0:
		finalizers = append(finalizers, OrphanFinalizer)
	case 1:
		finalizers = append(finalizers, ForegroundFinalizer)
	}
	return finalizers
}

func randomOwners(made []*unstructured.Unstructured, rng *rand.Rand) []metav1.OwnerReference {
	if len(made) == 0 || rng.IntN(5) == 0 {
		return nil
	}
	var refs []metav1.OwnerReference
	used := map[types.UID]bool{}
	for range 1 + rng.IntN(3) {
		owner := made[rng.IntN(len(made))]
		if used[owner.GetUID()] {
			continue
		}
		used[owner.GetUID()] = true
		ref := reference(owner, rng)
		switch rng.IntN(24) {
		case 0:
			ref.Name = "nobody"
		case 1:
			ref.APIVersion, ref.Kind = "v1", "Pod"
		case 2:
			ref.APIVersion = "unheard.example.com/v1"
		case 3:
			ref.UID = types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", rng.Uint64()&0xffffffffffff))
		}
		refs = append(refs, ref)
	}
	return refs
}

func reference(owner *unstructured.Unstructured, rng *rand.Rand) metav1.OwnerReference {
	block := rng.IntN(2) == 0
	return metav1.OwnerReference{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: &block}
}

// list reads a random cluster into a graph.
func (w *world) list(ctx context.Context, namespace string) (*graph.Graph, error) {
	b := graph.NewBuilder()
	b.Serve(graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true})
	b.Listing(graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}, namespace).Complete() // there are none
	for _, k := range kinds {
		b.Serve(k)
		scope := namespace
		if !k.Namespaced {
			scope = ""
		}
		listing := b.Listing(k, scope)
		objects, err := w.resource(k.Kind, namespace).List(ctx, metav1.ListOptions{LabelSelector: label + "=" + namespace})
		if err != nil {
			return nil, err
		}
		for i := range objects.Items {
			listing.Add(graphObject(&objects.Items[i]))
		}
		listing.Complete()
	}
	return b.Build(), nil
}

func graphObject(o *unstructured.Unstructured) graph.Object {
	out := graph.Object{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), ResourceVersion: o.GetResourceVersion(),
		Finalizers: o.GetFinalizers(), Created: o.GetCreationTimestamp().Unix(),
	}
	if d := o.GetDeletionTimestamp(); d != nil {
		out.Deleted = d.Unix()
	}
	for _, r := range o.GetOwnerReferences() {
		out.Owners = append(out.Owners, graph.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Block: r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion,
		})
	}
	return out
}

// release takes the test's finalizer off what of a cascade is being deleted.
func (w *world) release(ctx context.Context, namespace string, cascade map[types.UID]bool) error {
	for _, k := range kinds {
		objects, err := w.resource(k.Kind, namespace).List(ctx, metav1.ListOptions{LabelSelector: label + "=" + namespace})
		if err != nil {
			return err
		}
		for i := range objects.Items {
			o := &objects.Items[i]
			at := -1
			for j, f := range o.GetFinalizers() {
				if f == hold {
					at = j
				}
			}
			if o.GetDeletionTimestamp() == nil || at < 0 || !cascade[o.GetUID()] {
				continue
			}
			patch := fmt.Sprintf(`[{"op":"test","path":"/metadata/finalizers/%d","value":%q},{"op":"remove","path":"/metadata/finalizers/%d"}]`, at, hold, at)
			_, err := w.resource(k.Kind, namespace).Patch(ctx, o.GetName(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
				return err
			}
		}
	}
	return nil
}

// canary waits until the collector has collected a new object whose owner is absent: it has then seen what came before.
func (w *world) canary(ctx context.Context, namespace string) error {
	for range 2 {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		o.SetGenerateName("canary-")
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "nobody", UID: types.UID(namespace + "-absent")}})
		client := w.resource("ConfigMap", namespace)
		created, err := client.Create(ctx, o, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		deadline := time.Now().Add(time.Minute)
		for {
			if _, err := client.Get(ctx, created.GetName(), metav1.GetOptions{}); apierrors.IsNotFound(err) {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("the collector has not collected a canary in %s for a minute", namespace)
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// clear removes the cluster-scoped objects of a random cluster, which no namespace takes along.
func (w *world) clear(namespace string) {
	ctx := context.Background()
	_ = w.resource("ClusterRole", "").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: label + "=" + namespace})
}
