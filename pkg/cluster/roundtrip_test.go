package cluster

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// randomMeta returns metadata with anything in it that a server could send.
func randomMeta(r *rand.Rand) metav1.ObjectMeta {
	text := func() string {
		return []string{"", "a", "web-5d9c7b8f6d-x2lq9", "ünï-cødé-☃", "\x1b[31m\u202e\"\\\n",
			strings.Repeat("long-", 60)}[r.IntN(6)]
	}
	texts := func() map[string]string {
		m := map[string]string{}
		for range r.IntN(4) {
			m[fmt.Sprintf("key-%d", r.IntN(5))] = text()
		}
		return m
	}
	m := metav1.ObjectMeta{
		Name: text(), GenerateName: text(), Namespace: text(), UID: types.UID(fmt.Sprintf("uid-%d", r.Uint32())),
		ResourceVersion: fmt.Sprint(r.Uint64()), Generation: r.Int64() >> r.IntN(64), Labels: texts(), Annotations: texts(),
	}
	m.SetSelfLink(text())
	if r.IntN(4) > 0 {
		m.CreationTimestamp = metav1.Unix(r.Int64N(1<<33), 0)
	}
	if r.IntN(4) == 0 {
		at, grace := metav1.NewTime(time.Unix(1+r.Int64N(1<<33), 0)), r.Int64N(1000)
		m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &at, &grace
	}
	for range r.IntN(3) {
		m.Finalizers = append(m.Finalizers, text())
	}
	flag := func() *bool {
		v := r.IntN(2) == 0
		if r.IntN(3) == 0 {
			return nil
		}
		return &v
	}
	for range r.IntN(4) {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: text(), Kind: text(), Name: text(), UID: types.UID(text()), Controller: flag(),
			BlockOwnerDeletion: flag(),
		})
	}
	for range r.IntN(3) {
		m.ManagedFields = append(m.ManagedFields, managed(1+r.IntN(40)))
	}
	return m
}

// managed returns an entry of managedFields of about as many fields.
func managed(fields int) metav1.ManagedFieldsEntry {
	at := metav1.Unix(1700000000, 0)
	var raw strings.Builder
	raw.WriteString(`{"f:metadata":{"f:labels":{".":{}`)
	for i := range fields {
		fmt.Fprintf(&raw, `,"f:app.kubernetes.io/part-%d":{}`, i)
	}
	raw.WriteString(`}}}`)
	return metav1.ManagedFieldsEntry{
		Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1",
		Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(raw.String()), Subresource: "status",
	}
}

func randomList(seed uint64) *metav1.PartialObjectMetadataList {
	r := rand.New(rand.NewPCG(seed, 0))
	var items []metav1.ObjectMeta
	for range r.IntN(12) {
		items = append(items, randomMeta(r))
	}
	list := metadataList(items...)
	if r.IntN(2) == 0 {
		remaining := r.Int64N(1000)
		list.Continue, list.RemainingItemCount = "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ", &remaining
	}
	return list
}

// TestRoundTrip: what a server encodes comes out as if all of it had been decoded.
func TestRoundTrip(t *testing.T) {
	selector := labels.SelectorFromSet(labels.Set{"key-1": "a"})
	for seed := range uint64(150) {
		list := randomList(seed)
		for encoder := range encoders {
			body := encode(t, encoder, list)
			got, err := decodeBytes(body, extras{selector: selector})
			if diff := difference(picked(t, list, selector), got); err != nil || diff != "" {
				t.Errorf("seed %d, %s: %v\n%s", seed, encoder, err, diff)
			}
		}
	}
}

// TestSmallReads: it makes no difference in which pieces a body comes, or how much of it the buffer
// holds.
func TestSmallReads(t *testing.T) {
	for seed := range uint64(10) {
		list := randomList(seed)
		want := picked(t, list, nil)
		for encoder := range encoders {
			body := encode(t, encoder, list)
			for _, buffer := range []int{16, 64, 1000, readBuffer} {
				for way, r := range map[string]func() (decoded, error){
					"bytes":  func() (decoded, error) { return decode(iotest.OneByteReader(bytes.NewReader(body)), buffer, extras{}) },
					"halves": func() (decoded, error) { return decode(iotest.HalfReader(bytes.NewReader(body)), buffer, extras{}) },
					"end with the last data": func() (decoded, error) {
						return decode(iotest.DataErrReader(bytes.NewReader(body)), buffer, extras{})
					},
				} {
					got, err := r()
					if diff := difference(want, got); err != nil || diff != "" {
						t.Errorf("seed %d, %s in %s through %d: %v\n%s", seed, encoder, way, buffer, err, diff)
					}
				}
			}
		}
	}
}

// TestLargeObjects: objects that exceed the read buffer, larger and smaller ones in turn, and small
// ones between them.
func TestLargeObjects(t *testing.T) {
	var items []metav1.ObjectMeta
	for i, size := range []int{10, 200_000, 10, 100_000, 400_000, 70_000, readBuffer - 50, readBuffer,
		readBuffer + 50, 10} {
		items = append(items, metav1.ObjectMeta{
			Name: fmt.Sprintf("object-%d", i), UID: types.UID(fmt.Sprintf("uid-%d", i)), Namespace: "a",
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("x", size)},
			Finalizers:  []string{fmt.Sprintf("example.com/f%d", i)},
		})
	}
	list := metadataList(items...)
	for encoder := range encoders {
		got, err := decodeBytes(encode(t, encoder, list), extras{})
		if diff := difference(picked(t, list, nil), got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", encoder, err, diff)
		}
	}
}

// TestWholeObjects: a server that ignores the request for metadata only and sends whole objects is
// read just as well.
func TestWholeObjects(t *testing.T) {
	controller := true
	pod := func(name string) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Namespace: "a", UID: types.UID("uid-" + name), ResourceVersion: "7",
				CreationTimestamp: metav1.Unix(1700000000, 0),
				Labels:            map[string]string{"app": name},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "uid-rs",
					Controller: &controller}},
				ManagedFields: []metav1.ManagedFieldsEntry{managed(10)},
			},
			Spec: corev1.PodSpec{
				NodeName: "node-1",
				Containers: []corev1.Container{{Name: "main", Image: "example.com/image",
					Env: []corev1.EnvVar{{Name: "A", Value: "metadata"}}}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"},
		}
	}
	list := &corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "99", Continue: "more"},
		Items:    []corev1.Pod{pod("one"), pod("two")},
	}
	selector := labels.SelectorFromSet(labels.Set{"app": "two"})
	want := picked(t, list, selector)
	for encoder := range encoders {
		got, err := decodeBytes(encode(t, encoder, list), extras{selector: selector})
		if diff := difference(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", encoder, err, diff)
		}
	}
}

// TestEmptyList: a list of nothing is complete, in every way of saying so.
func TestEmptyList(t *testing.T) {
	list := metadataList()
	bodies := map[string][]byte{
		"null":                  []byte(`{"metadata":{"resourceVersion":"1234567"},"items":null}`),
		"items before metadata": []byte(`{"items":[],"metadata":{"resourceVersion":"1234567"}}`),
		"with keys of no matter": []byte(
			` {"kind":"List","x":{"items":[{"metadata":{}}]},"items":[ ],"metadata":{"resourceVersion":"1234567","x":[1]}}` + "\n"),
	}
	for encoder := range encoders {
		bodies[encoder] = encode(t, encoder, list)
	}
	for name, body := range bodies {
		got, err := decodeBytes(body, extras{})
		if diff := difference(picked(t, list, nil), got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}
