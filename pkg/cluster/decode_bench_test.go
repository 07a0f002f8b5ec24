package cluster

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// benchItems is how many objects the decoded page has.
const benchItems = 10_000

// podPage is a page of 10,000 pods as their controller and kubelet leave them: most of it
// managedFields.
func podPage() *metav1.PartialObjectMetadataList {
	yes := true
	created := metav1.Unix(1700000000, 0)
	field := func(manager, subresource, raw string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &created,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(raw), Subresource: subresource,
		}
	}
	spec := `{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"0c4b7c0e-0000-4000-a000-000000000001\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},` +
		strings.Repeat(
			`"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{".":{},"f:limits":{},"f:requests":{}},`, 4) +
		`"f:terminationMessagePath":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{}}}`
	status := `{"f:status":{"f:conditions":{` +
		strings.Repeat(
			`"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},`, 4) +
		`"f:containerStatuses":{}},"f:hostIP":{},"f:phase":{},"f:podIP":{}}}`
	items := make([]metav1.ObjectMeta, benchItems)
	for i := range items {
		rs := i / 10
		set := fmt.Sprintf("checkout-service-%04d-5d9c7b8f6d", rs)
		items[i] = metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%05d", set, i), GenerateName: set + "-",
			Namespace: fmt.Sprintf("team-%03d-production", rs%150),
			UID:       types.UID(fmt.Sprintf("%08x-0000-4000-a000-%012x", i, i)), ResourceVersion: fmt.Sprint(10_000_000 + i),
			CreationTimestamp: created,
			Labels:            map[string]string{"app": set, "pod-template-hash": "5d9c7b8f6d"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set,
				UID:        types.UID(fmt.Sprintf("%08x-0001-4000-a000-%012x", rs, rs)),
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
			ManagedFields: []metav1.ManagedFieldsEntry{field("kube-controller-manager", "", spec),
				field("kubelet", "status", status)},
		}
	}
	return metadataList(items...)
}

// BenchmarkDecode reads a page of 10,000 pods, without and with a look at the labels, and for
// comparison in JSON and with the generated code.
func BenchmarkDecode(b *testing.B) {
	list := podPage()
	decodeAll := func(body []byte, selector labels.Selector) func(*testing.B) {
		return func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			source := bytes.NewReader(body)
			r := bufio.NewReaderSize(source, readBuffer)
			for b.Loop() {
				source.Reset(body)
				r.Reset(source)
				objects := 0
				if err := decodePage(r, extras{selector: selector}, nil, func(listMeta) {},
					func(*graph.Object) { objects++ }); err != nil || objects != benchItems {
					b.Fatalf("%d objects, error %v", objects, err)
				}
			}
		}
	}
	body := encode(b, "protobuf", list)
	b.Run("protobuf", decodeAll(body, nil))
	b.Run("selector", decodeAll(body, selectorOf(b, "app=none")))
	b.Run("json", decodeAll(encode(b, "json", list), nil))
	b.Run("generated", func(b *testing.B) {
		raw, err := list.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			var list metav1.PartialObjectMetadataList
			if err := list.Unmarshal(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
