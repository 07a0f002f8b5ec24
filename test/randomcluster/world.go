package randomcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// kinds are what the random clusters are made of: two built-in types, a custom one, and a
// cluster-scoped one.
var kinds = []graph.Type{
	{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true},
	{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true},
	{Group: "plan.example.com", Version: "v1", Resource: "things", Kind: "Thing", Namespaced: true},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Kind: "ClusterRole"},
}

// hold is the finalizer that nobody removes until the test does.
const hold = "example.com/hold"

// label marks the objects of one random cluster, of which the cluster-scoped ones are in no
// namespace.
const label = "plan.example.com/graph"

// World is where random clusters are made.
type World struct {
	cluster *testcluster.Cluster
	client  dynamic.Interface
	// elsewhere is an object in a namespace of its own that wild clusters have references to.
	elsewhere *unstructured.Unstructured
}

// New defines the custom type of random clusters on a control plane, and returns a World that makes
// them there.
func New(t *testing.T, c *testcluster.Cluster) *World {
	t.Helper()
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
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	world := &World{cluster: c, client: client}
	world.elsewhere, err = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "services"}).
		Namespace(metav1.NamespaceDefault).Get(t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return world
}

func (w *World) resource(kind, namespace string) dynamic.ResourceInterface {
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

// Create makes a random cluster: a few objects with owners among those before them, some references
// that are wrong, some finalizers, and now and then a cycle.
func (w *World) Create(ctx context.Context, namespace string, rng *rand.Rand) error {
	_, err := w.create(ctx, namespace, rng)
	return err
}

// create returns what it has made, as it was made.
func (w *World) create(ctx context.Context, namespace string, rng *rand.Rand) ([]*unstructured.Unstructured, error) {
	if err := w.createNamespace(ctx, namespace); err != nil {
		return nil, err
	}
	var made []*unstructured.Unstructured
	for i := range 3 + rng.IntN(10) {
		created, err := w.createOne(ctx, namespace, i, made, rng)
		if err != nil {
			return nil, err
		}
		made = append(made, created)
	}
	if len(made) > 2 && rng.IntN(6) == 0 {
		return made, w.close(ctx, made[rng.IntN(len(made)/2)], made[len(made)/2+rng.IntN(len(made)-len(made)/2)], rng)
	}
	return made, nil
}

func (w *World) createNamespace(ctx context.Context, name string) error {
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": name}}}
	_, err := w.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(ctx, ns,
		metav1.CreateOptions{})
	return err
}

// createOne makes an object with owners among those that were made before.
func (w *World) createOne(ctx context.Context, namespace string, number int, made []*unstructured.Unstructured,
	rng *rand.Rand) (*unstructured.Unstructured, error) {
	o := w.newObject(namespace, number, rng)
	o.SetFinalizers(randomFinalizers(8, rng))
	o.SetOwnerReferences(randomOwners(made, rng))
	return w.resource(o.GetKind(), namespace).Create(ctx, o, metav1.CreateOptions{})
}

// newObject is an object of a random kind without owners, which is not created yet.
func (w *World) newObject(namespace string, number int, rng *rand.Rand) *unstructured.Unstructured {
	kind := kinds[rng.IntN(3)]
	if rng.IntN(8) == 0 {
		kind = kinds[3]
	}
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(kind.APIVersion())
	o.SetKind(kind.Kind)
	o.SetName(fmt.Sprintf("o%02d", number))
	if !kind.Namespaced {
		o.SetName(namespace + o.GetName())
	} else {
		o.SetNamespace(namespace)
	}
	o.SetLabels(map[string]string{label: namespace})
	return o
}

// close makes an object own one that came before it, which may make a cycle.
func (w *World) close(ctx context.Context, dependent, owner *unstructured.Unstructured, rng *rand.Rand) error {
	refs := append(dependent.GetOwnerReferences(), reference(owner, rng))
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": refs,
		"uid": dependent.GetUID()}})
	if err != nil {
		return err
	}
	_, err = w.resource(dependent.GetKind(), dependent.GetNamespace()).Patch(ctx, dependent.GetName(),
		types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return nil // the collector has taken it already
	}
	return err
}

// randomFinalizers gives one object in so many a finalizer of another controller, and as many one of
// the collector's.
func randomFinalizers(oneIn int, rng *rand.Rand) []string {
	var finalizers []string
	if rng.IntN(oneIn) == 0 {
		finalizers = append(finalizers, hold)
	}
	switch rng.IntN(2 * oneIn) {
	case 0:
		finalizers = append(finalizers, metav1.FinalizerOrphanDependents)
	case 1:
		finalizers = append(finalizers, metav1.FinalizerDeleteDependents)
	}
	return finalizers
}

// spoil makes a reference wrong in one of four ways, 0 to 3: its name, its kind, its group, or its
// uid, which then is that of nobody. With another number it stays as it is.
func spoil(ref *metav1.OwnerReference, how int, rng *rand.Rand) {
	switch how {
	case 0:
		ref.Name = "nobody"
	case 1:
		ref.APIVersion, ref.Kind = "v1", "Pod"
	case 2:
		ref.APIVersion = "unheard.example.com/v1"
	case 3:
		ref.UID = types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", rng.Uint64()&0xffffffffffff))
	}
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
		spoil(&ref, rng.IntN(24), rng)
		refs = append(refs, ref)
	}
	return refs
}

func reference(owner *unstructured.Unstructured, rng *rand.Rand) metav1.OwnerReference {
	block := rng.IntN(2) == 0
	return metav1.OwnerReference{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(),
		UID: owner.GetUID(), BlockOwnerDeletion: &block}
}
