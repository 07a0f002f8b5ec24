package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	claimNamespace = "default"
	claimName      = "orders"
	compositeName  = "orders-kk24v"
)

// crossplaneKind is a type as Crossplane and its providers have them: with the columns SYNCED and
// READY.
type crossplaneKind struct {
	group, resource, kind, category string
	namespaced                      bool
}

var (
	databases  = crossplaneKind{"platform" + groupSuffix, "databases", "Database", "claim", true}
	xDatabases = crossplaneKind{"platform" + groupSuffix, "xdatabases", "XDatabase", "composite", false}
	buckets    = crossplaneKind{"storage" + groupSuffix, "buckets", "Bucket", "managed", false}

	crossplaneKinds = []crossplaneKind{databases, xDatabases, buckets}
)

func (k crossplaneKind) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.group, Version: "v1", Resource: k.resource}
}

// definition returns the CustomResourceDefinition of the kind.
func (k crossplaneKind) definition() *unstructured.Unstructured {
	scope := "Cluster"
	if k.namespaced {
		scope = "Namespaced"
	}
	column := func(name, condition string) map[string]any {
		return map[string]any{"name": name, "type": "string",
			"jsonPath": fmt.Sprintf(".status.conditions[?(@.type=='%s')].status", condition)}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": k.resource + "." + k.group},
		"spec": map[string]any{
			"group": k.group, "scope": scope,
			"names": map[string]any{"plural": k.resource, "kind": k.kind, "categories": []any{k.category}},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object",
					"x-kubernetes-preserve-unknown-fields": true}},
				"additionalPrinterColumns": []any{column("SYNCED", "Synced"), column("READY", "Ready")},
			}},
		},
	}}
}

// install installs the type and waits until it is served.
func (s *session) install(ctx context.Context, k crossplaneKind) error {
	if _, err := s.dynamic.Resource(customResourceDefinitions).Create(ctx, k.definition(),
		metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating customresourcedefinition %s: %w", k.resource, err)
	}
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			_, err := s.dynamic.Resource(k.gvr()).List(ctx, metav1.ListOptions{Limit: 1})
			if apierrors.IsNotFound(err) {
				return false, nil
			}
			return err == nil, err
		})
	if err != nil {
		return fmt.Errorf("waiting until %s are served: %w", k.resource, err)
	}
	return nil
}

func (s *session) createOf(ctx context.Context, k crossplaneKind,
	o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o.SetAPIVersion(k.gvr().GroupVersion().String())
	o.SetKind(k.kind)
	created, err := s.dynamic.Resource(k.gvr()).Namespace(o.GetNamespace()).Create(ctx, o,
		metav1.CreateOptions{FieldManager: "crossplane"})
	if err != nil {
		return nil, fmt.Errorf("creating %s %s: %w", k.resource, o.GetName(), err)
	}
	return created, nil
}

func reference(k crossplaneKind, name string) map[string]any {
	return map[string]any{"apiVersion": k.gvr().GroupVersion().String(), "kind": k.kind, "name": name}
}

// reconciled is the status of an object that is well.
func reconciled() map[string]any {
	condition := func(kind, reason string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "reason": reason, "lastTransitionTime": "2026-11-21T19:11:25Z"}
	}
	return map[string]any{"conditions": []any{condition("Synced", "ReconcileSuccess"), condition("Ready", "Available")}}
}

func newClaim() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"resourceRef": reference(xDatabases, compositeName), "size": "small"}, "status": reconciled(),
	}}
	o.SetNamespace(claimNamespace)
	o.SetName(claimName)
	return o
}

// newComposite names all its managed resources, besides that it owns them.
func newComposite() *unstructured.Unstructured {
	references := make([]any, managedResources)
	for i := range references {
		references[i] = reference(buckets, managedName(i))
	}
	claim := reference(databases, claimName)
	claim["namespace"] = claimNamespace
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"claimRef": claim,
		"resourceRefs": references}, "status": reconciled()}}
	o.SetName(compositeName)
	o.SetFinalizers([]string{"composite.apiextensions.crossplane.io"})
	return o
}

func managedName(i int) string { return fmt.Sprintf("%s-%05d", compositeName, i) }

func newManaged(i int, owner metav1.OwnerReference) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"forProvider": map[string]any{"region": "here", "size": "small"},
			"providerConfigRef": map[string]any{"name": "default"}},
		"status": reconciled(),
	}}
	o.SetName(managedName(i))
	o.SetFinalizers([]string{"finalizer.managedresource.crossplane.io"})
	o.SetLabels(map[string]string{"crossplane.io/claim-name": claimName, "crossplane.io/claim-namespace": claimNamespace,
		"crossplane.io/composite": compositeName})
	o.SetAnnotations(map[string]string{"crossplane.io/composition-resource-name": fmt.Sprintf("bucket-%d", i),
		"crossplane.io/external-name": managedName(i)})
	o.SetOwnerReferences([]metav1.OwnerReference{owner})
	return o
}
