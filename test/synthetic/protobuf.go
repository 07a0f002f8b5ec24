package synthetic

import "google.golang.org/protobuf/encoding/protowire"

// Field numbers of generated.proto in apimachinery: runtime.Unknown, TypeMeta, ListMeta,
// ObjectMeta, OwnerReference and ManagedFieldsEntry.
const (
	unknownType, unknownRaw           = 1, 2
	typeVersion, typeKind             = 1, 2
	listMeta, listItem                = 1, 2
	listVersion, listNext             = 2, 3
	itemMeta                          = 1
	metaName, metaNamespace, metaUID  = 1, 3, 5
	metaVersion, metaGeneration       = 6, 7
	metaCreated, metaLabels           = 8, 11
	metaOwners, metaManaged           = 13, 17
	timeSeconds                       = 1
	mapKey, mapValue                  = 1, 2
	ownerKind, ownerName, ownerUID    = 1, 3, 4
	ownerVersion, ownerIsController   = 5, 6
	ownerBlocks                       = 7
	managedManager, managedOperation  = 1, 2
	managedVersion, managedFieldsType = 3, 6
	managedFieldsV1, fieldsRaw        = 7, 1
)

const magic = "k8s\x00"

// encoder writes objects as protobuf. Its buffers are used again, so it is for one answer.
type encoder struct {
	world            *world
	meta, part, text []byte
	owners           []reference
}

func message(b []byte, num protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), m)
}

func text(b []byte, num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

func number(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

// item appends an object as an item of a list.
func (e *encoder) item(b []byte, k *kind, i int) []byte {
	e.metadata(k, i)
	size := protowire.SizeTag(itemMeta) + protowire.SizeBytes(len(e.meta))
	b = protowire.AppendVarint(protowire.AppendTag(b, listItem, protowire.BytesType), uint64(size))
	return message(b, itemMeta, e.meta)
}

func (e *encoder) metadata(k *kind, i int) {
	e.text = k.appendName(e.text[:0], i)
	m := message(e.meta[:0], metaName, e.text)
	if k.namespaced {
		e.text = e.world.namespaces.appendName(e.text[:0], k.namespaceOf(i))
		m = message(m, metaNamespace, e.text)
	}
	e.text = k.appendUID(e.text[:0], i)
	m = message(m, metaUID, e.text)
	e.text = appendVersion(e.text[:0], i)
	m = message(m, metaVersion, e.text)
	m = number(m, metaGeneration, 1)
	m = message(m, metaCreated, number(e.part[:0], timeSeconds, created))
	m = message(m, metaLabels, text(text(e.part[:0], mapKey, "app.kubernetes.io/name"), mapValue, k.prefix))
	if k.ownersOf != nil {
		e.owners = k.ownersOf(i, e.owners[:0])
		for _, o := range e.owners {
			e.owner(o)
			m = message(m, metaOwners, e.part)
		}
	}
	e.managed(k)
	e.meta = message(m, metaManaged, e.part)
}

// owner encodes an ownerReference into part.
func (e *encoder) owner(o reference) {
	p := text(e.part[:0], ownerKind, o.to.kind)
	e.text = o.to.appendName(e.text[:0], o.i)
	p = message(p, ownerName, e.text)
	e.text = o.to.appendUID(e.text[:0], o.i)
	p = text(message(p, ownerUID, e.text), ownerVersion, o.to.apiVersion())
	is := protowire.EncodeBool(o.controller)
	e.part = number(number(p, ownerIsController, is), ownerBlocks, is)
}

// managed encodes a managedFields entry into part.
func (e *encoder) managed(k *kind) {
	p := text(text(text(e.part[:0], managedManager, "kube-controller-manager"), managedOperation, "Update"),
		managedVersion, k.apiVersion())
	p = text(p, managedFieldsType, "FieldsV1")
	fields := managedFields[:k.managed]
	p = protowire.AppendTag(p, managedFieldsV1, protowire.BytesType)
	p = protowire.AppendVarint(p, uint64(protowire.SizeTag(fieldsRaw)+protowire.SizeBytes(len(fields))))
	e.part = message(p, fieldsRaw, fields)
}

// head appends all of a list that stands before its items, whose length is known.
func head(b []byte, next string, items int) []byte {
	meta := text(nil, listVersion, version)
	if next != "" {
		meta = text(meta, listNext, next)
	}
	own := message(nil, listMeta, meta)
	b = append(b, magic...)
	b = message(b, unknownType, text(text(nil, typeVersion, "meta.k8s.io/v1"), typeKind, "PartialObjectMetadataList"))
	b = protowire.AppendVarint(protowire.AppendTag(b, unknownRaw, protowire.BytesType), uint64(len(own)+items))
	return append(b, own...)
}
