package cluster

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Field numbers of ObjectMeta, OwnerReference and Time
// (apimachinery/pkg/apis/meta/v1/generated.proto). Those of the fields that are not kept, among
// them managedFields, are not named: their bytes are stepped over.
const (
	metaName              = 1
	metaNamespace         = 3
	metaUID               = 5
	metaResourceVersion   = 6
	metaGeneration        = 7
	metaCreationTimestamp = 8
	metaDeletionTimestamp = 9
	metaGracePeriod       = 10
	metaLabels            = 11
	metaAnnotations       = 12
	metaOwners            = 13
	metaFinalizers        = 14

	ownerKind       = 1
	ownerName       = 3
	ownerUID        = 4
	ownerAPIVersion = 5
	ownerController = 6
	ownerBlock      = 7

	timeSeconds = 1

	mapKey   = 1
	mapValue = 2
)

// metadataDecoder picks out of encoded objects what the graph keeps. It is for one goroutine, and
// the Object that it returns is valid until the next call; its strings stay valid.
type metadataDecoder struct {
	keep        extras
	object      graph.Object
	gracePeriod int64 // deletionGracePeriodSeconds, 0 for none
	labels      labels.Set
	annotations map[string]string
	strings     recent
}

// decoders are for objects that come one at a time: what a decoder remembers is larger than most.
var decoders = sync.Pool{New: func() any { return &metadataDecoder{} }}

// decodeMetadata reads an answer about one object, and returns an Object that is the caller's and
// its deletionGracePeriodSeconds.
func decodeMetadata(body []byte, keep extras) (*graph.Object, int64, error) {
	item, err := unwrap(body)
	if err != nil {
		return nil, 0, err
	}
	d := decoders.Get().(*metadataDecoder)
	defer decoders.Put(d)
	d.keep = keep
	if _, err := d.decode(item); err != nil {
		return nil, 0, err
	}
	o := d.object
	d.object, d.annotations = graph.Object{}, nil
	return &o, d.gracePeriod, nil
}

// decode reads one PartialObjectMetadata.
func (d *metadataDecoder) decode(item []byte) (*graph.Object, error) {
	o := &d.object
	*o = graph.Object{Owners: o.Owners[:0], Finalizers: o.Finalizers[:0]}
	d.gracePeriod = 0
	clear(d.labels)
	clear(d.annotations)
	err := fields(item, func(num protowire.Number, f field) error {
		if num == itemMetaAt {
			return d.meta(f.bytes)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if d.keep.selector != nil {
		o.Selected = d.keep.selector.Matches(d.labels)
	}
	if len(d.annotations) > 0 {
		o.Annotations = d.annotations
	}
	return o, nil
}

func (d *metadataDecoder) meta(b []byte) error {
	o := &d.object
	var name, uid, version []byte
	err := fields(b, func(num protowire.Number, f field) (err error) {
		switch num {
		case metaName:
			name = f.bytes
		case metaUID:
			uid = f.bytes
		case metaResourceVersion:
			version = f.bytes
		case metaNamespace:
			o.Namespace = d.strings.get(f.bytes)
		case metaGeneration:
			o.Generation = int64(f.varint)
		case metaCreationTimestamp:
			o.CreationTimestamp, err = seconds(f.bytes)
		case metaDeletionTimestamp:
			o.DeletionTimestamp, err = seconds(f.bytes)
		case metaGracePeriod:
			d.gracePeriod = int64(f.varint)
		case metaLabels:
			err = d.label(f.bytes)
		case metaAnnotations:
			err = d.annotation(f.bytes)
		case metaOwners:
			err = d.owner(f.bytes)
		case metaFinalizers:
			o.Finalizers = append(o.Finalizers, d.strings.get(f.bytes))
		}
		return err
	})
	// One allocation for the three strings that no other object shares.
	var all strings.Builder
	all.Grow(len(name) + len(uid) + len(version))
	all.Write(name)
	all.Write(uid)
	all.Write(version)
	s := all.String()
	o.Name, o.UID, o.ResourceVersion = s[:len(name)], s[len(name):len(name)+len(uid)], s[len(name)+len(uid):]
	return err
}

func (d *metadataDecoder) owner(b []byte) error {
	var r graph.OwnerReference
	err := fields(b, func(num protowire.Number, f field) error {
		switch num {
		case ownerKind:
			r.Kind = d.strings.get(f.bytes)
		case ownerName:
			r.Name = d.strings.get(f.bytes)
		case ownerUID:
			r.UID = d.strings.get(f.bytes)
		case ownerAPIVersion:
			r.APIVersion = d.strings.get(f.bytes)
		case ownerController:
			r.Controller = f.varint != 0
		case ownerBlock:
			r.Block = f.varint != 0
		}
		return nil
	})
	d.object.Owners = append(d.object.Owners, r)
	return err
}

func (d *metadataDecoder) label(b []byte) error {
	if d.keep.selector == nil {
		return nil
	}
	key, value, err := entry(b)
	if d.labels == nil {
		d.labels = labels.Set{}
	}
	d.labels[d.strings.get(key)] = d.strings.get(value)
	return err
}

// annotation keeps one that was asked for. The value of another is stepped over.
func (d *metadataDecoder) annotation(b []byte) error {
	if len(d.keep.annotations) == 0 {
		return nil
	}
	key, value, err := entry(b)
	i := slices.IndexFunc(d.keep.annotations, func(wanted string) bool { return wanted == string(key) })
	if err != nil || i < 0 {
		return err
	}
	if d.annotations == nil {
		d.annotations = map[string]string{}
	}
	d.annotations[d.keep.annotations[i]] = d.strings.get(value)
	return nil
}

// entry reads one entry of a map.
func entry(b []byte) (key, value []byte, err error) {
	err = fields(b, func(num protowire.Number, f field) error {
		switch num {
		case mapKey:
			key = f.bytes
		case mapValue:
			value = f.bytes
		}
		return nil
	})
	return key, value, err
}

func seconds(b []byte) (int64, error) {
	var s int64
	err := fields(b, func(num protowire.Number, f field) error {
		if num == timeSeconds {
			s = int64(f.varint)
		}
		return nil
	})
	return s, err
}

func parseListMeta(b []byte) (listMeta, error) {
	var m listMeta
	err := fields(b, func(num protowire.Number, f field) error {
		switch num {
		case listVersion:
			m.resourceVersion = string(f.bytes)
		case listContinue:
			m.continueToken = string(f.bytes)
		}
		return nil
	})
	return m, err
}

// field is the value of one field: bytes for strings and messages, varint for numbers and booleans.
type field struct {
	bytes  []byte
	varint uint64
}

// fields calls f for each field of a message.
func fields(b []byte, f func(protowire.Number, field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: %w", errMalformed, protowire.ParseError(n))
		}
		b = b[n:]
		var v field
		switch typ {
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			v.varint, n = protowire.ConsumeVarint(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("%w: %w", errMalformed, protowire.ParseError(n))
		}
		b = b[n:]
		if err := f(num, v); err != nil {
			return err
		}
	}
	return nil
}

// recent are strings that came a moment ago: namespaces, kinds, the names and uids of owners, which
// many objects share. Each stands in the place that its length and its end give it, until another
// takes that.
type recent [1024]string

// get returns the string with the same bytes, a new one if it did not come a moment ago.
func (r *recent) get(b []byte) string {
	var end uint64
	if len(b) >= 8 {
		end = binary.LittleEndian.Uint64(b[len(b)-8:])
	} else {
		for _, c := range b {
			end = end<<8 | uint64(c)
		}
	}
	at := &r[(end^uint64(len(b)))*0x9e3779b97f4a7c15>>54]
	if *at != string(b) {
		*at = string(b)
	}
	return *at
}

// interner keeps one copy of the strings that many objects share.
type interner struct{ known map[string]string }

// maxInterned bounds what is remembered; beyond it the memory of what came before is dropped, not
// the strings.
const maxInterned = 1 << 14

// text returns the copy of a string that is kept.
func (in *interner) text(s string) string {
	if same, ok := in.known[s]; ok {
		return same
	}
	if in.known == nil || len(in.known) >= maxInterned {
		in.known = make(map[string]string, 64)
	}
	in.known[s] = s
	return s
}
