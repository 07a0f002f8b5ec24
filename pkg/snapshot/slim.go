package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
// They are not saved, except in what is asked for.
var Copies = []string{"banzaicloud.com/last-applied", "kapp.k14s.io/original",
	lastApplied, "objectset.rio.cattle.io/applied"}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Items are objects of a list, encoded as the items of a protobuf list one after the other.
type Items struct {
	Encoded []byte
	Objects int
	// Deleted are the names of those that are being deleted.
	Deleted []Name
}

// Name is the name of an object.
type Name struct{ Namespace, Name string }

// Slim makes of a page that a server has answered, a list of metadata in protobuf or in JSON, what
// is saved: no managedFields, none of the Copies, and nothing besides metadata.
func Slim(body []byte) (Items, error) {
	if !bytes.HasPrefix(body, magic) {
		return slimJSON(body)
	}
	var all Items
	err := fields(body[len(magic):], func(num protowire.Number, list, _ []byte) error {
		if num != unknownRaw {
			return nil
		}
		all.Encoded = make([]byte, 0, len(list)/2)
		return fields(list, func(num protowire.Number, item, _ []byte) error {
			if num != listItems {
				return nil
			}
			return all.add(item)
		})
	})
	return all, err
}

// slimJSON is Slim for servers that speak no protobuf.
func slimJSON(body []byte) (Items, error) {
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(body, &list); err != nil {
		return Items{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	var all Items
	for i := range list.Items {
		o := metav1.PartialObjectMetadata{ObjectMeta: list.Items[i].ObjectMeta}
		item, err := o.Marshal()
		if err == nil {
			err = all.add(item)
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// add adds an item without what is not saved of it.
func (all *Items) add(item []byte) error {
	return fields(item, func(num protowire.Number, meta, _ []byte) error {
		if num != itemMeta {
			return nil
		}
		slim, name, deleted := make([]byte, 0, len(meta)), Name{}, false
		err := fields(meta, func(num protowire.Number, value, whole []byte) error {
			switch num {
			case metaName:
				name.Name = string(value)
			case metaNamespace:
				name.Namespace = string(value)
			case metaDeletion:
				deleted = true
			case metaManagedFields:
				return nil
			case metaAnnotations:
				key, err := only(value, entryKey)
				if err != nil || slices.Contains(Copies, string(key)) {
					return err
				}
			}
			slim = append(slim, whole...)
			return nil
		})
		if deleted {
			all.Deleted = append(all.Deleted, name)
		}
		all.Objects++
		outer := protowire.SizeTag(itemMeta) + protowire.SizeBytes(len(slim))
		all.Encoded = protowire.AppendTag(all.Encoded, listItems, protowire.BytesType)
		all.Encoded = protowire.AppendVarint(all.Encoded, uint64(outer))
		all.Encoded = protowire.AppendTag(all.Encoded, itemMeta, protowire.BytesType)
		all.Encoded = protowire.AppendBytes(all.Encoded, slim)
		return err
	})
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
