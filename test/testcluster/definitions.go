package testcluster

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
)

// untilServed waits until the types of definitions are in what the server says that it serves, or
// it has said that their names are another's.
func (r *requests) untilServed(ctx context.Context, definitions []*resource.Info) error {
	for {
		served, err := r.types()
		if err != nil {
			return err
		}
		missing := false
		for _, info := range definitions {
			now, err := resource.NewHelper(info.Client, info.Mapping).Get(info.Namespace, info.Name)
			if err != nil {
				return err
			}
			d := definition{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(now.(*unstructured.Unstructured).Object,
				&d); err != nil {
				return err
			}
			missing = missing || !d.settled(served)
		}
		if !missing {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// definition is what is looked at of a CustomResourceDefinition.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Names struct {
			Plural string `json:"plural"`
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// settled reports whether all that a definition is to serve is among the types that are served, or
// its names are another's.
func (d definition) settled(served map[string]bool) bool {
	if meta.IsStatusConditionFalse(d.Status.Conditions, "NamesAccepted") {
		return true
	}
	for _, v := range d.Spec.Versions {
		if v.Served && !served[d.Spec.Group+"/"+v.Name+"/"+d.Spec.Names.Plural] {
			return false
		}
	}
	return true
}

// types are those that the server serves now, each as GROUP/VERSION/PLURAL.
func (r *requests) types() (map[string]bool, error) {
	client, err := discovery.NewDiscoveryClientForConfig(r.config)
	if err != nil {
		return nil, err
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, err
	}
	all := map[string]bool{}
	for _, list := range lists {
		for _, of := range list.APIResources {
			all[list.GroupVersion+"/"+of.Name] = true
		}
	}
	return all, nil
}
