package synthetic

import (
	"fmt"
	"strings"
)

// partial are the kind and version of an object of which only the metadata is sent.
const partialVersion, partialKind = "meta.k8s.io/v1", "PartialObjectMetadata"

// json appends an object as JSON: all of it, which is little more than its metadata, or its
// metadata.
func (e *encoder) json(b []byte, k *kind, i int, metadataOnly bool) []byte {
	apiVersion, kind := k.apiVersion(), k.kind
	if metadataOnly {
		apiVersion, kind = partialVersion, partialKind
	}
	// In the order of a custom resource, which most of them are.
	b = fmt.Appendf(b, `{"apiVersion":%q,"kind":%q,"metadata":{"name":%q`, apiVersion, kind, k.name(i))
	if k.namespaced {
		b = fmt.Appendf(b, `,"namespace":%q`, e.world.namespaces.name(k.namespaceOf(i)))
	}
	b = fmt.Appendf(
		b, `,"uid":%q,"resourceVersion":%q,"generation":1,"creationTimestamp":%q,"labels":{"app.kubernetes.io/name":%q}`,
		k.appendUID(nil, i), appendVersion(nil, i), createdText, k.prefix)
	if k.ownersOf != nil {
		e.owners = k.ownersOf(i, e.owners[:0])
		for n, o := range e.owners {
			b = append(b, map[bool]string{true: `,"ownerReferences":[`, false: ","}[n == 0]...)
			b = fmt.Appendf(b, `{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":%t,"blockOwnerDeletion":%t}`,
				o.to.apiVersion(), o.to.kind, o.to.name(o.i), o.to.appendUID(nil, o.i), o.controller, o.controller)
		}
		b = append(b, ']')
	}
	if metadataOnly {
		return append(b, "}}"...)
	}
	return append(append(b, `},`...), k.content(e.world, i)+"}"...)
}

// content is what an object has besides its metadata.
func (k *kind) content(w *world, i int) string {
	switch k.kind {
	case "Namespace":
		return `"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}`
	case "CustomResourceDefinition":
		of := w.custom[i]
		return fmt.Sprintf(
			`"spec":{"group":%q,"scope":"Namespaced","names":{"plural":%[2]q,"kind":%[3]q},"versions":[{"name":"v1","served":true,"storage":true}]},`+
				`"status":{"acceptedNames":{"plural":%[2]q,"kind":%[3]q},"storedVersions":["v1"],"conditions":[{"type":"Established","status":"True"}]}`, of.group, of.resource, of.kind)
	case "ClusterRole":
		return `"rules":[]`
	}
	return `"spec":{},"status":{}`
}

// columns are those of a Table, of which clients read READY and STATUS.
func (k *kind) columns() string {
	names := []string{"Name", "Age"}
	if k.kind == "Pod" {
		names = []string{"Name", "Ready", "Status", "Age"}
	}
	for i, name := range names {
		format := ""
		if name == "Name" {
			format = "name"
		}
		names[i] = fmt.Sprintf(`{"name":%q,"type":"string","format":%q,"description":"","priority":0}`, name, format)
	}
	return "[" + strings.Join(names, ",") + "]"
}

// row appends the row of a Table, without its object.
func (k *kind) row(b []byte, i int) []byte {
	b = k.appendName(append(b, `{"cells":["`...), i)
	if k.kind == "Pod" {
		b = append(b, `","1/1","Running`...)
	}
	return append(b, `","3d"]}`...)
}
