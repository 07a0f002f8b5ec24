package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// typeSources are the names of the objects that define types, taken from their ordinary listing:
// comparing them with discovery costs nothing unless something is amiss.
type typeSources struct {
	mu          sync.Mutex
	crds        []string // plural.group
	apiServices []string // version.group
}

// DefinesTypes reports whether the objects of a type define types: CustomResourceDefinitions and
// APIServices. What is served changes with them.
func DefinesTypes(t graph.Type) bool {
	gr := t.GroupResource()
	return gr == CRDs || gr == APIServices
}

// observer returns what to call with each name of the type, nil for a type that defines none.
func (d *typeSources) observer(t graph.Type) func(string) {
	var list *[]string
	switch t.GroupResource() {
	case CRDs:
		list = &d.crds
	case APIServices:
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

// hidden looks for types that are defined and that discovery does not show. What can be listed is
// listed, the rest is a gap.
func (l *lister) hidden(ctx context.Context) error {
	if l.store != nil {
		l.typeSources.crds, _ = l.store.names(CRDs.Group, CRDs.Resource)
		l.typeSources.apiServices, _ = l.store.names(APIServices.Group, APIServices.Resource)
	}
	var found []Resource
	for _, name := range slices.Compact(slices.Sorted(slices.Values(l.typeSources.crds))) {
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
	for _, name := range slices.Compact(slices.Sorted(slices.Values(l.typeSources.apiServices))) {
		version, group, _ := strings.Cut(name, ".")
		gv := schema.GroupVersion{Group: group, Version: version}
		if _, known := l.cat.groupVersions[gv]; known {
			continue
		}
		why, err := l.client.undiscovered(ctx, name)
		switch {
		case err != nil:
			if _, fatal := newGap(ctx, graph.Type{}, "", err); fatal != nil {
				return fatal
			}
			why = fmt.Sprintf("apiservice %q serves types that discovery does not show, and could not be read: %s", name,
				message(err))
		case why == "":
			continue
		}
		l.gap(v1alpha1.Gap{Resource: "*", Group: group, Reason: v1alpha1.GapDiscoveryFailed, Message: why})
	}
	return l.all(ctx, found)
}

// failed reports whether the discovery of any version of a group failed, which is a gap of its own
// already.
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

// definedBy returns the type of a CustomResourceDefinition that discovery does not show. It is
// false for one that is proven to be gone, or was never established: neither can have instances.
func (c *Client) definedBy(ctx context.Context, name string) (Resource, bool, error) {
	var d crd
	err := c.getDefining(ctx, CRDs, name, &d)
	switch {
	case IsAbsent(err, graph.Type{Group: CRDs.Group, Resource: CRDs.Resource}, name):
		return Resource{}, false, nil
	case err != nil:
		return Resource{}, false, err
	}
	if !slices.ContainsFunc(d.Status.Conditions,
		func(c condition) bool { return c.Type == "Established" && c.Status == "True" }) {
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
		return Resource{}, false, fmt.Errorf(
			"customresourcedefinition %q serves no version; its instances cannot be listed", name)
	}
	return r, true, nil
}

// getDefining reads an object that defines types.
func (c *Client) getDefining(ctx context.Context, gr schema.GroupResource, name string,
	into interface{ GetName() string }) error {
	t := graph.Type{Group: gr.Group, Version: "v1", Resource: gr.Resource}
	err := getJSON(ctx, c.rest.Get().AbsPath(resourcePath(t, "", name)...), acceptJSON, into)
	if err == nil && into.GetName() != name {
		err = errAnother(name, into.GetName())
	}
	return err
}

// apiService is what is read of an APIService.
type apiService struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Group   string
		Service *struct{ Name string } // nil for one that kube-apiserver serves itself
	}
	Status struct{ Conditions []condition }
}

func (c *Client) apiService(ctx context.Context, name string) (*apiService, error) {
	var s apiService
	err := c.getDefining(ctx, APIServices, name, &s)
	return &s, err
}

// unavailable says why an APIService's types are not to be had; empty if it is available.
func (s *apiService) unavailable() string {
	for _, cond := range s.Status.Conditions {
		switch {
		case cond.Type != "Available":
		case cond.Status == "True":
			return ""
		default:
			return fmt.Sprintf("apiservice %q is not available: %s: %s", s.Name, cond.Reason, cond.Message)
		}
	}
	return fmt.Sprintf("apiservice %q has not become available", s.Name)
}

// undiscovered says which types may be hidden by an APIService whose version discovery does not
// show; empty if none are. That it is available does not mean that discovery had it (API-056).
func (c *Client) undiscovered(ctx context.Context, name string) (string, error) {
	s, err := c.apiService(ctx, name)
	if IsAbsent(err, graph.Type{Group: APIServices.Group, Resource: APIServices.Resource}, name) {
		return "", nil // deleted meanwhile
	}
	if err != nil {
		return "", err
	}
	// One that kube-apiserver has registered for CustomResourceDefinitions, which it does for those
	// that were never established, too, and takes back a while after the last of them is gone.
	// Whatever can have instances is found by its definition.
	if s.Spec.Service == nil && s.Labels["kube-aggregator.kubernetes.io/automanaged"] == "true" {
		return "", nil
	}
	why := s.unavailable()
	if why == "" && !holdsNoObjects(s.Spec.Group) {
		why = fmt.Sprintf("apiservice %q is available, and discovery does not show what it serves; try again", name)
	}
	return why, nil
}

// explainFailedGroups returns discovery's gaps with what the APIService says of each, where it says
// anything.
func (c *Client) explainFailedGroups(ctx context.Context, cat *Catalog) []v1alpha1.Gap {
	gaps := slices.Clone(cat.Gaps)
	for i := range gaps {
		gv, _, _ := strings.Cut(gaps[i].Message, ":")
		parsed, err := schema.ParseGroupVersion(gv)
		if err != nil {
			continue
		}
		if s, err := c.apiService(ctx, parsed.Version+"."+parsed.Group); err == nil {
			gaps[i].Message = cmp.Or(s.unavailable(), gaps[i].Message)
		}
	}
	return gaps
}
