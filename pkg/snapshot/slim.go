package snapshot

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of runtime.Unknown, of a list and of ObjectMeta (generated.proto of apimachinery).
const (
	unknownRaw        = 2
	listItems         = 2
	itemMeta          = 1
	metaName          = 1
	metaNamespace     = 3
	metaUID           = 5
	metaVersion       = 6
	metaDeletion      = 9
	metaAnnotations   = 12
	metaManagedFields = 17
	entryKey          = 1
)

var magic = []byte("k8s\x00")

var errMalformed = errors.New("a page of a list cannot be decoded")

// Copies are the annotations in which tools keep a whole object, and with it what is secret in it.
// That an object has one is saved, since tools go by that (kubectl apply --prune), and not its value.
var Copies = []string{"banzaicloud.com/last-applied", "kapp.k14s.io/original",
	lastApplied, "objectset.rio.cattle.io/applied"}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Items are objects of a list, encoded as the items of a protobuf list one after the other.
type Items struct {
	Encoded []byte
	Objects int
	// Deleted are the names of those that are being deleted.
	Deleted []Name

	slim []byte // of one object
}

// Name is the name of an object.
type Name struct{ Namespace, Name string }

// Add adds an object, a PartialObjectMetadata in protobuf, without what is not saved of it: its
// managedFields, the values of Copies, and all but its metadata.
func (all *Items) Add(item []byte) error {
	return fields(item, func(num protowire.Number, meta, _ []byte) error {
		if num != itemMeta {
			return nil
		}
		all.slim = all.slim[:0]
		var name, namespace []byte
		deleted := false
		err := fields(meta, func(num protowire.Number, value, whole []byte) error {
			switch num {
			case metaName:
				name = value
			case metaNamespace:
				namespace = value
			case metaDeletion:
				deleted = true
			case metaManagedFields:
				return nil
			case metaAnnotations:
				key, err := only(value, entryKey)
				if err != nil {
					return err
				}
				if slices.Contains(Copies, string(key)) {
					all.slim = appendKey(all.slim, key)
					return nil
				}
			}
			all.slim = append(all.slim, whole...)
			return nil
		})
		if deleted {
			all.Deleted = append(all.Deleted, Name{string(namespace), string(name)})
		}
		all.Objects++
		outer := protowire.SizeTag(itemMeta) + protowire.SizeBytes(len(all.slim))
		all.Encoded = protowire.AppendTag(all.Encoded, listItems, protowire.BytesType)
		all.Encoded = protowire.AppendVarint(all.Encoded, uint64(max(0, outer)))
		all.Encoded = protowire.AppendTag(all.Encoded, itemMeta, protowire.BytesType)
		all.Encoded = protowire.AppendBytes(all.Encoded, all.slim)
		return err
	})
}

// appendKey adds an annotation without a value.
func appendKey(meta, key []byte) []byte {
	entry := protowire.AppendBytes(protowire.AppendTag(nil, entryKey, protowire.BytesType), key)
	return protowire.AppendBytes(protowire.AppendTag(meta, metaAnnotations, protowire.BytesType), entry)
}

// only returns the value of one field of a message.
func only(b []byte, wanted protowire.Number) (value []byte, err error) {
	err = fields(b, func(num protowire.Number, v, _ []byte) error {
		if num == wanted {
			value = v
		}
		return nil
	})
	return value, err
}

// fields calls f for each field of a message, with its value if that has bytes, and all of it.
func fields(b []byte, f func(num protowire.Number, value, whole []byte) error) error {
	for len(b) > 0 {
		num, typ, tag := protowire.ConsumeTag(b)
		if tag < 0 {
			return fmt.Errorf("%w: %w", errMalformed, protowire.ParseError(tag))
		}
		n := protowire.ConsumeFieldValue(num, typ, b[tag:])
		if n < 0 {
			return fmt.Errorf("%w: %w", errMalformed, protowire.ParseError(n))
		}
		var value []byte
		if typ == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(b[tag:])
		}
		if err := f(num, value, b[:tag+n]); err != nil {
			return err
		}
		b = b[tag+n:]
	}
	return nil
}
