package restore

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Name names an archived object: a type as kubectl takes it, and a name.
type Name struct{ Type, Name string }

// ParseNames reads arguments as kubectl does: TYPE/NAME ..., or TYPE NAME ....
func ParseNames(args []string) ([]Name, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if !strings.Contains(args[0], "/") {
		if len(args) == 1 {
			return nil, fmt.Errorf("%q needs a name: TYPE/NAME or TYPE NAME", args[0])
		}
		var names []Name
		for _, name := range args[1:] {
			if strings.Contains(name, "/") {
				return nil, fmt.Errorf("%q: TYPE/NAME and TYPE NAME cannot be used together", name)
			}
			names = append(names, Name{args[0], name})
		}
		return names, nil
	}
	var names []Name
	for _, arg := range args {
		kind, name, ok := strings.Cut(arg, "/")
		if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("%q must be TYPE/NAME", arg)
		}
		names = append(names, Name{kind, name})
	}
	return names, nil
}

// find returns the objects that are meant: those that are named with all that they own or contain,
// or all of the archive. A namespace means what was in it.
func (x *index) find(names []Name, namespace string, cat *cluster.Catalog) ([]bool, error) {
	wanted := make([]bool, len(x.items))
	if len(names) == 0 {
		for i, it := range x.items {
			wanted[i] = namespace == "" || it.ref.Namespace == namespace || it.place() == place{kindNamespace, "", namespace}
		}
		return wanted, nil
	}
	for _, name := range names {
		var found []*item
		for _, it := range x.items {
			if it.ref.Name == name.Name && (namespace == "" || it.ref.Namespace == "" || it.ref.Namespace == namespace) &&
				x.isOf(it, name.Type, cat) {
				found = append(found, it)
			}
		}
		places := phrase.Words(found, func(it *item) string { return it.ref.Located() })
		switch places = slices.Compact(places); {
		case len(found) == 0:
			return nil, fmt.Errorf("%s has no %s/%s; kubectl gc archive --verify lists what it has", x.file, name.Type,
				name.Name)
		case len(places) > 1:
			return nil, fmt.Errorf("%s/%s is %s in %s; say which with -n, or name the group", name.Type, name.Name,
				phrase.And(places), x.file)
		}
		for _, it := range found {
			x.include(it, wanted)
		}
	}
	return wanted, nil
}

// include marks an object and all that it owns or contains.
func (x *index) include(it *item, wanted []bool) {
	if wanted[it.number] {
		return
	}
	wanted[it.number] = true
	for _, dependent := range x.dependents(it) {
		x.include(dependent, wanted)
	}
	for _, other := range x.items {
		switch it.kind() {
		case kindNamespace:
			if other.ref.Namespace == it.ref.Name {
				x.include(other, wanted)
			}
		case kindDefinition:
			if x.definitionOf(other) == it {
				x.include(other, wanted)
			}
		}
	}
}

// dependents are the objects that another owns: what is in another namespace, or in none, cannot be
// a dependent of an object in a namespace, whatever it says.
func (x *index) dependents(it *item) []*item {
	if x.owned == nil {
		x.owned = map[string][]*item{}
		for _, other := range x.items {
			for _, r := range other.owners {
				x.owned[string(r.UID)] = append(x.owned[string(r.UID)], other)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(x.owned[it.ref.UID]), func(other *item) bool {
		return it.ref.Namespace != "" && other.ref.Namespace != it.ref.Namespace
	})
}

// definitionOf is the archived CustomResourceDefinition of an object; nil if the archive has none.
func (x *index) definitionOf(it *item) *item {
	gvk := schema.FromAPIVersionAndKind(it.ref.APIVersion, it.ref.Kind)
	if x.definitions == nil {
		x.definitions = map[schema.GroupVersionKind]*item{}
		for _, other := range x.items {
			for _, t := range other.facts.definition {
				x.definitions[schema.GroupVersionKind{Group: t.Group, Version: t.Version, Kind: t.Kind}] = other
			}
		}
	}
	return x.definitions[gvk]
}

// isOf reports whether an object is of the type that a word means: a kind, a resource or a short
// name, with or without a group.
func (x *index) isOf(it *item, word string, cat *cluster.Catalog) bool {
	kind := it.kind()
	names := []string{kind.Kind}
	if d := x.definitionOf(it); d != nil {
		for _, t := range d.facts.definition {
			names = append(names, t.Resource)
		}
	}
	if t, served := cat.Kind(it.ref.APIVersion, it.ref.Kind); served {
		if r, ok := cat.Lookup(t.GroupResource()); ok {
			names = append(append(names, r.Resource, r.Singular), r.ShortNames...)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return name != "" && (strings.EqualFold(name, word) || strings.EqualFold(name+"."+kind.Group, word))
	})
}
