package dump

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// builder puts the objects of files into types.
type builder struct {
	*Dump
	limits Limits
	kinds  map[schema.GroupKind]*Type
	names  map[schema.GroupResource]*Type
	seen   map[named]*Object
	// namespaces are all that the dump speaks of.
	namespaces map[string]bool
	newest     time.Time
	renewed    bool                             // a Lease that is renewed as long as the cluster runs is among the objects
	nodes      []time.Time                      // when those of nodes were renewed, by their clocks
	owners     map[schema.GroupVersionKind]bool // named by references; true if of a cluster-scoped object
}

type named struct {
	of              *Type
	namespace, name string
}

// item is what is read of an object, here or by who lists it: one that cannot be decoded would make
// a list of it end.
type item struct {
	APIVersion, Kind string
	Metadata         struct {
		Name, Namespace, UID, ResourceVersion string
		Generation                            int64
		CreationTimestamp, DeletionTimestamp  metav1.Time
		DeletionGracePeriodSeconds            *int64
		OwnerReferences                       []metav1.OwnerReference
		Finalizers                            []string
		Labels, Annotations                   map[string]string
		ManagedFields                         []struct{ Time metav1.Time }
	}
}

func newBuilder(d *Dump, limits Limits) *builder {
	b := &builder{Dump: d, limits: limits, kinds: map[schema.GroupKind]*Type{},
		names: map[schema.GroupResource]*Type{}, seen: map[named]*Object{}, namespaces: map[string]bool{},
		owners: map[schema.GroupVersionKind]bool{}}
	for _, t := range builtInTypes() {
		b.register(t)
	}
	return b
}

func (b *builder) register(t *Type) {
	t.namespaces = map[string]bool{}
	b.Types = append(b.Types, t)
	b.kinds[schema.GroupKind{Group: t.Group, Kind: t.Kind}] = t
	b.names[schema.GroupResource{Group: t.Group, Resource: t.Name}] = t
}

// add adds the objects of all files, once the definitions of their types are known.
func (b *builder) add(of layout, files []file) error {
	for _, f := range files {
		for _, doc := range f.docs {
			for _, raw := range doc.items {
				b.define(raw)
			}
		}
	}
	for _, f := range files {
		p := of.place(split(f.name))
		for _, doc := range f.docs {
			switch {
			case p.skip:
			case doc.plan != nil:
				if err := b.archive(doc.plan); err != nil {
					return err
				}
			default:
				if err := b.document(p, doc); err != nil {
					return err
				}
			}
		}
	}
	b.leaveOutShared()
	return nil
}

// document adds the objects of a document, and what it proves.
func (b *builder) document(p place, doc document) error {
	apiVersion, kind := doc.apiVersion, strings.TrimSuffix(doc.kind, "List")
	if kind == "" || !doc.list {
		apiVersion, kind = p.apiVersion, p.kind
	}
	listed, whole := map[*Type]bool{}, !doc.continues
	for _, raw := range doc.items {
		it := item{}
		if err := json.Unmarshal(raw, &it); err != nil {
			if whole = false; doc.kind != "" { // a dump has files with no objects, too
				b.Unread = append(b.Unread, fmt.Errorf("an object of a %s cannot be decoded: %w", doc.kind, err))
			}
			continue
		}
		if it.Kind == "" {
			it.APIVersion, it.Kind = apiVersion, kind
		}
		t, err := b.object(p, &it, raw)
		if err != nil {
			return err
		}
		if t == nil {
			whole = false
			continue
		}
		listed[t] = true
	}
	if doc.list && whole {
		b.covered(p, apiVersion, kind, listed)
	}
	return nil
}

// covered notes of which types a list has all objects.
func (b *builder) covered(p place, apiVersion, kind string, listed map[*Type]bool) {
	if gv, err := schema.ParseGroupVersion(apiVersion); err == nil && kind != "" {
		if t := b.kinds[gv.WithKind(kind).GroupKind()]; t != nil {
			listed[t] = true // an empty list says what it is of
		}
	}
	if t := b.names[schema.GroupResource{Group: p.group, Resource: p.resource}]; t != nil && len(listed) == 0 {
		listed[t] = true
	}
	for t := range listed {
		switch p.covers {
		case nothing:
		case ofAll:
			t.everywhere = true
		case ofNamespace:
			b.namespaces[p.namespace] = true
			t.namespaces[p.namespace] = true
		}
	}
}

// object adds one object, and returns its type; nil if it cannot be served.
func (b *builder) object(p place, it *item, raw []byte) (*Type, error) {
	m := &it.Metadata
	if it.Kind == "" || it.APIVersion == "" || m.Name == "" {
		return nil, nil
	}
	gv, err := schema.ParseGroupVersion(it.APIVersion)
	if err != nil || !isSegment(m.Name) || gv.Group != "" && !isSegment(gv.Group) || !isSegment(gv.Version) ||
		gv.Group == metav1.GroupName { // as PartialObjectMetadata, which does not say of what
		return nil, nil //nolint:nilerr // no object that a server has answered
	}
	if m.UID == "" {
		b.WithoutUID++
		return nil, nil
	}
	t := b.typeOf(gv, it.Kind, p, m.Namespace != "")
	if t == nil || t.Namespaced != (m.Namespace != "") {
		b.Unread = append(b.Unread, fmt.Errorf("%s %s of %s: its type is defined otherwise", it.Kind, m.Name, it.APIVersion))
		return nil, nil
	}
	if err := b.note(it, raw); err != nil {
		return nil, err
	}
	o := &Object{Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, JSON: raw}
	key := named{t, m.Namespace, m.Name}
	if known := b.seen[key]; known != nil {
		if newer(o, known) {
			*known = *o
		}
		return t, nil
	}
	if b.Objects++; b.Objects > b.limits.Objects {
		return nil, tooLarge("it has more than %d objects", b.limits.Objects)
	}
	if len(t.Objects) == 0 && t.Version != gv.Version {
		t.Version = gv.Version
	}
	t.serves(gv.Version)
	t.Objects = append(t.Objects, o)
	b.seen[key] = o
	return t, nil
}

// newer compares two states of an object.
func newer(a, b *Object) bool {
	x, err := strconv.ParseUint(a.ResourceVersion, 10, 64)
	y, other := strconv.ParseUint(b.ResourceVersion, 10, 64)
	return err == nil && (other != nil || x > y)
}

// typeOf returns the type of an object.
func (b *builder) typeOf(gv schema.GroupVersion, kind string, p place, namespaced bool) *Type {
	gk := schema.GroupKind{Group: gv.Group, Kind: kind}
	if t := b.kinds[gk]; t != nil {
		return t
	}
	plural, singular := meta.UnsafeGuessKindToResource(gv.WithKind(kind))
	name := plural.Resource
	if likely(p.resource, kind) {
		name = p.resource
	}
	if !isSegment(name) || b.names[schema.GroupResource{Group: gv.Group, Resource: name}] != nil {
		return nil
	}
	t := &Type{Versions: []string{gv.Version}, APIResource: metav1.APIResource{
		Group: gv.Group, Version: gv.Version, Name: name, Kind: kind, SingularName: singular.Resource,
		Namespaced: namespaced, Verbs: verbs,
	}}
	b.register(t)
	return t
}

// likely returns whether a name that stands in a path can be the plural of a kind.
func likely(resource, kind string) bool {
	kind = strings.ToLower(kind)
	return len(kind) > 2 && strings.HasPrefix(resource, kind[:max(2, len(kind)-2)])
}

// define adds the type that an object defines, if it is a CustomResourceDefinition.
func (b *builder) define(raw []byte) {
	if !bytes.Contains(raw, []byte(`"versions"`)) && !bytes.Contains(raw, []byte(`"version"`)) {
		return
	}
	var d struct {
		Kind string
		Spec struct {
			Group, Scope, Version string // v1beta1 has a version
			Names                 struct {
				Plural, Singular, Kind string
				ShortNames, Categories []string
			}
			Versions []struct {
				Name   string
				Served bool
			}
		}
	}
	if json.Unmarshal(raw, &d) != nil || d.Kind != "" && d.Kind != "CustomResourceDefinition" {
		return
	}
	t := &Type{defined: true, APIResource: metav1.APIResource{
		Group: d.Spec.Group, Name: d.Spec.Names.Plural, Kind: d.Spec.Names.Kind, SingularName: d.Spec.Names.Singular,
		Namespaced: d.Spec.Scope == "Namespaced", ShortNames: d.Spec.Names.ShortNames,
		Categories: d.Spec.Names.Categories, Verbs: verbs,
	}}
	for _, v := range d.Spec.Versions {
		if v.Served {
			t.serves(v.Name)
		}
	}
	if len(t.Versions) == 0 && d.Spec.Version != "" {
		t.serves(d.Spec.Version)
	}
	if t.Group == "" || t.Kind == "" || len(t.Versions) == 0 || !isSegment(t.Name) ||
		b.names[schema.GroupResource{Group: t.Group, Resource: t.Name}] != nil {
		return
	}
	slices.SortStableFunc(t.Versions, func(x, y string) int { return version.CompareKubeAwareVersionStrings(y, x) })
	t.Version = t.Versions[0]
	b.register(t)
}

// finish adds the types of owners that are not in the dump, and puts all in order.
func (b *builder) finish(written time.Time) {
	b.ofOwners()
	slices.SortFunc(b.Types, func(x, y *Type) int {
		return cmp.Or(strings.Compare(x.Group, y.Group), strings.Compare(x.Name, y.Name))
	})
	b.aggregated()
	for _, t := range b.Types {
		slices.SortFunc(t.Objects, func(x, y *Object) int {
			return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
		})
		t.known = t.Namespaced && len(t.namespaces) > 0 && len(t.namespaces) == len(b.namespaces) &&
			b.names[schema.GroupResource{Resource: "namespaces"}].everywhere
	}
	b.atNodes()
	switch {
	case b.TimeOf == Stated:
	case b.renewed:
		b.Time, b.TimeOf = b.newest.UTC(), OfLeases
	default: // which is never before the newest object, nor to come
		if now := time.Now(); written.After(now) {
			written = now
		}
		b.Time = slices.MaxFunc([]time.Time{written, b.newest}, time.Time.Compare).UTC()
	}
}
