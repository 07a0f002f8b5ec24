package cluster

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// decoded is what a page came to.
type decoded struct {
	meta    listMeta
	metas   int
	objects []graph.Object
}

// decode reads a page through a buffer of the given size and keeps copies, as the objects live for
// the call only.
func decode(r io.Reader, buffer int, keep extras) (decoded, error) {
	var d decoded
	err := decodePage(bufio.NewReaderSize(r, buffer), keep, nil, func(m listMeta) {
		d.meta, d.metas = m, d.metas+1
	}, func(o *graph.Object) {
		kept := *o
		kept.Owners, kept.Finalizers, kept.Annotations = slices.Clone(o.Owners), slices.Clone(o.Finalizers),
			maps.Clone(o.Annotations)
		d.objects = append(d.objects, kept)
	})
	return d, err
}

func decodeBytes(body []byte, keep extras) (decoded, error) {
	return decode(bytes.NewReader(body), readBuffer, keep)
}

// encoders are the server's own, by the name of what they send.
var encoders = map[string]runtime.Encoder{
	"protobuf": protobuf.NewSerializer(nil, nil),
	"protobuf, streamed": protobuf.NewSerializerWithOptions(nil, nil,
		protobuf.SerializerOptions{StreamingCollectionsEncoding: true}),
	"json":         json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{}),
	"json, pretty": json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{Pretty: true}),
}

func encode(t testing.TB, encoder string, list runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encoders[encoder].Encode(list, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// metadataList is a list as a server sends it that was asked for metadata only.
func metadataList(items ...metav1.ObjectMeta) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1",
		Kind: "PartialObjectMetadataList"}}
	list.ResourceVersion = "1234567"
	for _, m := range items {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}, ObjectMeta: m,
		})
	}
	return list
}

// picked is what a list comes to when all of it is decoded first and the graph's part taken out
// afterwards.
func picked(t testing.TB, list runtime.Object, selector labels.Selector) decoded {
	t.Helper()
	l, err := meta.ListAccessor(list)
	if err != nil {
		t.Fatal(err)
	}
	d := decoded{meta: listMeta{l.GetResourceVersion(), l.GetContinue()}, metas: 1}
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		m, err := meta.Accessor(item)
		if err != nil {
			t.Fatal(err)
		}
		d.objects = append(d.objects, pick(m, selector))
	}
	return d
}

func pick(m metav1.Object, selector labels.Selector) graph.Object {
	o := graph.Object{
		Namespace: m.GetNamespace(), Name: m.GetName(), UID: string(m.GetUID()), ResourceVersion: m.GetResourceVersion(),
		Generation: m.GetGeneration(), Finalizers: m.GetFinalizers(), Selected: selector != nil &&
			selector.Matches(labels.Set(m.GetLabels())),
	}
	if created := m.GetCreationTimestamp(); !created.IsZero() {
		o.CreationTimestamp = created.Unix()
	}
	if deleted := m.GetDeletionTimestamp(); deleted != nil {
		o.DeletionTimestamp = deleted.Unix()
	}
	for _, r := range m.GetOwnerReferences() {
		o.Owners = append(o.Owners, graph.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Controller: r.Controller != nil && *r.Controller, Block: r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion,
		})
	}
	return o
}

// difference is empty if two pages came to the same.
func difference(want, got decoded) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(decoded{}, listMeta{}), cmpopts.EquateEmpty())
}
