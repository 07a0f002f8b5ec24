package dump

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// ofOwners adds the types of owners that are not in the dump, and the versions in which references
// name others: a reference keeps the version that it was written in, and kubectl gets objects in the
// preferred one. What was read of a CustomResourceDefinition says itself which versions there are.
func (b *builder) ofOwners() {
	all := slices.SortedFunc(maps.Keys(b.owners), func(x, y schema.GroupVersionKind) int {
		return cmp.Or(strings.Compare(x.Group, y.Group), strings.Compare(x.Kind, y.Kind),
			version.CompareKubeAwareVersionStrings(y.Version, x.Version))
	})
	services := b.apiServices()
	for _, gvk := range all {
		t := b.kinds[gvk.GroupKind()]
		switch {
		case t == nil && b.mayDefine(gvk.Group):
			b.typeOf(gvk.GroupVersion(), gvk.Kind, place{}, !b.owners[gvk])
		case t != nil && !t.defined && (!services.everywhere || b.registered(gvk.GroupVersion())):
			t.serves(gvk.Version)
		}
	}
}

// aggregated notes the versions that are served and of whose types the dump tells nothing, as those
// of another server. Of an APIService that is not available no server would tell either. If all
// APIServices are there, a built-in type is not served that is in none of them.
func (b *builder) aggregated() {
	services := b.apiServices()
	if services.everywhere && b.registered(schema.GroupVersion{Version: "v1"}) { // that of the core group is one of all
		b.Types = slices.DeleteFunc(b.Types, func(t *Type) bool {
			return len(t.Objects) == 0 && slices.ContainsFunc(builtInTypes(), func(known *Type) bool {
				return known.Group == t.Group && known.Name == t.Name
			}) && !slices.ContainsFunc(t.Versions, func(version string) bool {
				return b.registered(schema.GroupVersion{Group: t.Group, Version: version})
			})
		})
	}
	for _, o := range services.Objects {
		var service struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct{ Group, Version string }
			Status   struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if json.Unmarshal(o.JSON, &service) != nil || service.Spec.Group == "" || !isSegment(service.Spec.Version) ||
			service.Metadata.Labels["kube-aggregator.kubernetes.io/automanaged"] == "true" ||
			slices.ContainsFunc(b.Types, func(t *Type) bool {
				return t.Group == service.Spec.Group && slices.Contains(t.Versions, service.Spec.Version)
			}) {
			continue
		}
		for _, c := range service.Status.Conditions {
			if c.Type == "Available" && c.Status == "True" {
				b.Aggregated = append(b.Aggregated, schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version})
			}
		}
	}
}

const apiServices = "apiregistration.k8s.io"

func (b *builder) apiServices() *Type {
	return b.names[schema.GroupResource{Group: apiServices, Resource: "apiservices"}]
}

// registered returns whether the dump has the APIService of a version.
func (b *builder) registered(gv schema.GroupVersion) bool {
	return b.seen[named{b.apiServices(), "", gv.Version + "." + gv.Group}] != nil
}

// mayDefine returns whether there can be types in a group that the dump does not show.
func (b *builder) mayDefine(group string) bool {
	if group == "" || slices.ContainsFunc(builtInTypes(), func(t *Type) bool { return t.Group == group }) {
		return false
	}
	for _, name := range []schema.GroupResource{{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
		{Group: apiServices, Resource: "apiservices"}} {
		if !b.names[name].everywhere {
			return true
		}
	}
	return false
}

// isSegment returns whether a name can stand in the path of a request.
func isSegment(name string) bool { return name != "" && len(content.IsPathSegmentName(name)) == 0 }
