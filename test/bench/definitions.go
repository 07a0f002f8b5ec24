package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
)

const (
	instancesOfDefinition = 3
	definitionsOfGroup    = 10
	definitionLabel       = "bench=crds"
	groupSuffix           = ".bench.example"
)

var customResourceDefinitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

// definition is one CustomResourceDefinition by number. Every third is cluster-scoped, as about as
// many are in the wild.
type definition int

func (d definition) namespaced() bool { return d%3 != 0 }
func (d definition) kind() string     { return fmt.Sprintf("Gadget%03d", int(d)) }
func (d definition) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{
		Group: fmt.Sprintf("group%02d%s", int(d)/definitionsOfGroup, groupSuffix), Version: "v1",
		Resource: strings.ToLower(d.kind()) + "s",
	}
}

func (d definition) object() *unstructured.Unstructured {
	scope := "Cluster"
	if d.namespaced() {
		scope = "Namespaced"
	}
	gvr := d.gvr()
	label, value, _ := strings.Cut(definitionLabel, "=")
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": gvr.Resource + "." + gvr.Group, "labels": map[string]any{label: value}},
		"spec": map[string]any{
			"group": gvr.Group, "scope": scope,
			"names": map[string]any{"plural": gvr.Resource, "singular": strings.ToLower(d.kind()), "kind": d.kind()},
			"versions": []any{map[string]any{
				"name": gvr.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object",
					"properties": map[string]any{"spec": open, "status": open}}},
				"subresources": map[string]any{"status": map[string]any{}},
			}},
		},
	}}
}

func (d definition) instance(i int, namespaces []string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": d.gvr().GroupVersion().String(), "kind": d.kind(),
		"metadata": map[string]any{"name": fmt.Sprintf("gadget-%d", i)},
		"spec":     map[string]any{"size": int64(i), "color": "grey"},
	}}
	if d.namespaced() {
		o.SetNamespace(namespaces[(int(d)*instancesOfDefinition+i)%len(namespaces)])
	}
	return o
}

// installDefinitions installs the CustomResourceDefinitions with their instances, and waits until
// all are discovered.
func (s *session) installDefinitions(ctx context.Context) error {
	say("installing %d CustomResourceDefinitions", s.crds)
	list, err := s.dynamic.Resource(namespaces).List(ctx,
		metav1.ListOptions{LabelSelector: namespaceLabel + "=" + namespaceTeam})
	if err != nil {
		return fmt.Errorf("listing the namespaces that were loaded: %w", err)
	}
	var names []string
	for _, ns := range list.Items {
		names = append(names, ns.GetName())
	}
	err = side(ctx, s.writers, s.crds, func(ctx context.Context, i int) error {
		return s.installDefinition(ctx, definition(i), names)
	})
	if err != nil {
		return err
	}
	if err := s.awaitDiscovery(ctx); err != nil {
		return err
	}
	return settle(ctx, s.kubeconfig)
}

func (s *session) installDefinition(ctx context.Context, d definition, namespaces []string) error {
	o := d.object()
	if _, err := s.dynamic.Resource(customResourceDefinitions).Create(ctx, o, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating customresourcedefinition %s: %w", o.GetName(), err)
	}
	for i := range instancesOfDefinition {
		instance := d.instance(i, namespaces)
		err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 5*time.Minute, true,
			func(ctx context.Context) (bool, error) {
				_, err := s.dynamic.Resource(d.gvr()).Namespace(instance.GetNamespace()).Create(ctx, instance,
					metav1.CreateOptions{})
				if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
					return false, nil // not served yet
				}
				return err == nil, err
			})
		if err != nil {
			return fmt.Errorf("creating an instance of %s: %w", o.GetName(), err)
		}
	}
	return nil
}

// awaitDiscovery waits until the server names all the types that were installed: instances can be
// created before.
func (s *session) awaitDiscovery(ctx context.Context) error {
	config, err := clientConfig(s.kubeconfig)
	if err != nil {
		return err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	found := 0
	err = wait.PollUntilContextTimeout(ctx, time.Second, 5*time.Minute, true, func(context.Context) (bool, error) {
		_, lists, err := client.ServerGroupsAndResources()
		found = 0
		for _, list := range lists {
			for _, r := range list.APIResources {
				if strings.Contains(list.GroupVersion, groupSuffix+"/") && !strings.Contains(r.Name, "/") {
					found++
				}
			}
		}
		return err == nil && found == s.crds, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until the %d types installed are discovered (%d are): %w", s.crds, found, err)
	}
	return nil
}

// removeDefinitions removes the CustomResourceDefinitions, and with them their instances. Each is
// deleted by itself: the server does not clean up behind those that are deleted as a collection,
// and their instances would come back with them.
func (s *session) removeDefinitions(ctx context.Context) error {
	client, selected := s.dynamic.Resource(customResourceDefinitions), metav1.ListOptions{LabelSelector: definitionLabel}
	list, err := client.List(ctx, selected)
	if err != nil {
		return fmt.Errorf("listing the benchmark's customresourcedefinitions: %w", err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	say("removing %d CustomResourceDefinitions", len(list.Items))
	err = side(ctx, s.writers, len(list.Items), func(ctx context.Context, i int) error {
		err := client.Delete(ctx, list.Items[i].GetName(), metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting the benchmark's customresourcedefinitions: %w", err)
	}
	selected.Limit = 1
	err = wait.PollUntilContextTimeout(ctx, time.Second, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		list, err := client.List(ctx, selected)
		return err == nil && len(list.Items) == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting until the benchmark's customresourcedefinitions are gone: %w", err)
	}
	return nil
}
