package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

var (
	crdResource        = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	apiServiceResource = schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}
)

// definitions are the names of the objects that define types, taken from their ordinary listing: comparing them with
// discovery costs nothing unless something is amiss.
type definitions struct {
	mu          sync.Mutex
	crds        []string // plural.group
	apiServices []string // version.group
}

// defines says whether the objects of a type define types.
func defines(t graph.Type) bool {
	gr := schema.GroupResource{Group: t.Group, Resource: t.Resource}
	return gr == crdResource || gr == apiServiceResource
}

// observer returns what to call with each name of the type, nil for a type that defines none.
func (d *definitions) observer(t graph.Type) func(string) {
	var list *[]string
	switch (schema.GroupResource{Group: t.Group, Resource: t.Resource}) {
	case crdResource:
		list = &d.crds
	case apiServiceResource:
		list = &d.apiServices
	default:
		return nil
	}
	return func(name string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		*list = append(*list, name)
	}
}

// hidden looks for types that are defined and that discovery does not show. What can be listed is listed, the rest is a gap.
func (l *lister) hidden(ctx context.Context) error {
	var found []Resource
	for _, name := range sorted(l.definition.crds) {
		plural, group, _ := strings.Cut(name, ".")
		if _, known := l.cat.Lookup(schema.GroupResource{Group: group, Resource: plural}); known || l.cat.failed(group) {
			continue
		}
		r, ok, err := l.client.definedBy(ctx, name)
		if err != nil {
			if err := l.note(ctx, graph.Type{Group: group, Resource: plural}, "", err); err != nil {
				return err
			}
			continue
		}
		if ok && l.wants(r) {
			l.builder.Serve(r.Type, r.OtherVersions...)
			found = append(found, r)
		}
	}
	for _, name := range sorted(l.definition.apiServices) {
		version, group, _ := strings.Cut(name, ".")
		gv := schema.GroupVersion{Group: group, Version: version}
		if _, known := l.cat.groupVersions[gv]; known || group == "" {
			continue
		}
		why, err := l.client.apiServiceCondition(ctx, name)
		if apierrors.IsNotFound(err) || err == nil && why == "" {
			continue // deleted, or become available, meanwhile
		}
		if err != nil {
			why = fmt.Sprintf("apiservice %q serves types that discovery does not show, and could not be read: %s", name, message(err))
		}
		l.gap(v1alpha1.Gap{Resource: "*", Group: group, Reason: v1alpha1.GapDiscoveryFailed, Message: why})
	}
	return l.all(ctx, found)
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// failed says whether the discovery of any version of a group failed, which is a gap of its own already.
func (cat *Catalog) failed(group string) bool {
	for gv, ok := range cat.groupVersions {
		if gv.Group == group && !ok {
			return true
		}
	}
	return false
}

const acceptJSON = "application/json"

// crd is what is read of a CustomResourceDefinition.
type crd struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Group, Scope string
		Versions     []struct {
			Name   string
			Served bool
		}
	}
	Status struct {
		AcceptedNames struct{ Plural, Singular, Kind string }
		Conditions    []condition
	}
}

type condition struct{ Type, Status, Reason, Message string }

// definedBy returns the type of a CustomResourceDefinition that discovery does not show. It is false for one that was
// never established, which can have no instances.
func (c *Client) definedBy(ctx context.Context, name string) (Resource, bool, error) {
	var d crd
	if err := getJSON(ctx, c.rest.Get().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", name), acceptJSON, &d); err != nil {
		if apierrors.IsNotFound(err) {
			return Resource{}, false, nil // deleted meanwhile
		}
		return Resource{}, false, err
	}
	if !slices.ContainsFunc(d.Status.Conditions, func(c condition) bool { return c.Type == "Established" && c.Status == "True" }) {
		return Resource{}, false, nil
	}
	r := Resource{Type: graph.Type{
		Group: d.Spec.Group, Resource: d.Status.AcceptedNames.Plural, Kind: d.Status.AcceptedNames.Kind,
		Namespaced: d.Spec.Scope == "Namespaced",
	}, Singular: d.Status.AcceptedNames.Singular, Verbs: []string{"delete", "get", "list", "patch", "watch"}}
	for _, v := range d.Spec.Versions {
		switch {
		case !v.Served:
		case r.Version == "":
			r.Version = v.Name
		default:
			r.OtherVersions = append(r.OtherVersions, v.Name)
		}
	}
	if r.Version == "" {
		return Resource{}, false, fmt.Errorf("customresourcedefinition %q serves no version; its instances cannot be listed", name)
	}
	return r, true, nil
}

// apiServiceCondition says why an APIService's types are not to be had; empty if it is available.
func (c *Client) apiServiceCondition(ctx context.Context, name string) (string, error) {
	var s struct {
		Status struct{ Conditions []condition }
	}
	if err := getJSON(ctx, c.rest.Get().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices", name), acceptJSON, &s); err != nil {
		return "", err
	}
	for _, cond := range s.Status.Conditions {
		switch {
		case cond.Type != "Available":
		case cond.Status == "True":
			return "", nil
		default:
			return fmt.Sprintf("apiservice %q is not available: %s: %s", name, cond.Reason, cond.Message), nil
		}
	}
	return fmt.Sprintf("apiservice %q has not become available", name), nil
}

// explainFailedGroups returns discovery's gaps with what the APIService says of each, where it says anything.
func (c *Client) explainFailedGroups(ctx context.Context, cat *Catalog) []v1alpha1.Gap {
	gaps := slices.Clone(cat.Gaps)
	for i := range gaps {
		gv, _, _ := strings.Cut(gaps[i].Message, ":")
		parsed, err := schema.ParseGroupVersion(gv)
		if err != nil {
			continue
		}
		why, err := c.apiServiceCondition(ctx, parsed.Version+"."+parsed.Group)
		if err == nil && why != "" {
			gaps[i].Message = why
		}
	}
	return gaps
}
