package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// shortList has something of everything in few bytes.
func shortList() *metav1.PartialObjectMetadataList {
	yes := true
	at := metav1.Unix(1700000100, 0)
	list := metadataList(metav1.ObjectMeta{
		Name: "one", Namespace: "a", UID: "u1", ResourceVersion: "300", Generation: 200,
		CreationTimestamp: metav1.Unix(1700000000, 0),
		DeletionTimestamp: &at, Finalizers: []string{"f"}, Labels: map[string]string{"k": "v"},
		Annotations: map[string]string{"a": "b"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u2", Controller: &yes,
			BlockOwnerDeletion: &yes}},
		ManagedFields: []metav1.ManagedFieldsEntry{managed(1)},
	}, metav1.ObjectMeta{Name: "two", UID: "u3"})
	list.Continue = "next"
	return list
}

// TestTruncated: a body that ends early, wherever it does, is no complete list, and what was read
// of it up to there is right.
func TestTruncated(t *testing.T) {
	list := shortList()
	want := picked(t, list, nil)
	for _, encoder := range []string{"protobuf", "protobuf, streamed", "json"} {
		body := encode(t, encoder, list)
		body = bytes.TrimSuffix(body, []byte("\n")) // which is no part of the list
		if _, err := decodeBytes(body, extras{}); err != nil {
			t.Fatal(err)
		}
		for end := range body {
			for _, buffer := range []int{16, readBuffer} {
				got, err := decode(bytes.NewReader(body[:end]), buffer, extras{})
				if err == nil && !isTail(body[end:]) || err != nil && !errors.Is(err, errTruncated) {
					t.Errorf("%s: after %d of %d bytes: error %v", encoder, end, len(body), err)
				}
				if len(got.objects) > len(want.objects) ||
					difference(decoded{objects: want.objects[:len(got.objects)]}, decoded{objects: got.objects}) != "" {
					t.Errorf("%s: after %d of %d bytes: read %+v", encoder, end, len(body), got.objects)
				}
			}
		}
	}
}

// isTail reports whether nothing is missing but the two empty strings that stand behind the list in
// runtime.Unknown.
func isTail(rest []byte) bool {
	return bytes.Equal(rest, []byte{3<<3 | 2, 0, 4<<3 | 2, 0}) || bytes.Equal(rest, []byte{4<<3 | 2, 0})
}

// TestBrokenConnection: an error of the connection is handed on as it is, wherever it comes. It is
// not taken for the end of the body or for a bad list.
func TestBrokenConnection(t *testing.T) {
	broken := errors.New("connection reset by peer")
	for encoder := range encoders {
		body := encode(t, encoder, shortList())
		for end := range len(body) + 1 {
			_, err := decode(io.MultiReader(bytes.NewReader(body[:end]), iotest.ErrReader(broken)), 64, extras{})
			if !errors.Is(err, broken) || errors.Is(err, errTruncated) || errors.Is(err, errMalformed) {
				t.Errorf("%s: broken after %d of %d bytes: %v", encoder, end, len(body), err)
			}
		}
	}
}

// wire wraps the encoding of a list as a server does.
func wire(t testing.TB, raw []byte) []byte {
	t.Helper()
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "List"}, Raw: raw}
	body, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(protobufMagic), body...)
}

// TestMalformed: what is no list is an error and not an empty list.
func TestMalformed(t *testing.T) {
	magic := string(protobufMagic)
	rawStatus, err := (&metav1.Status{Status: metav1.StatusFailure, Message: "no", Code: 500}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	const meta = "\x0a\x00" // the metadata of a list, empty
	tests := map[string]struct {
		body string
		want error
	}{
		"nothing":                         {"", errTruncated},
		"one byte":                        {"k", errTruncated},
		"no list at all":                  {magic, errTruncated},
		"other fields only":               {magic + "\x0a\x02ab", errTruncated},
		"an empty list message":           {string(wire(t, []byte{})), errMalformed},
		"items without metadata":          {string(wire(t, []byte("\x12\x00"))), errMalformed},
		"a status":                        {string(wire(t, rawStatus)), errMalformed},
		"two lists":                       {string(wire(t, []byte(meta))) + "\x12\x02" + meta, errMalformed},
		"field 0":                         {magic + "\x02\x00", errMalformed},
		"a number where the list belongs": {magic + "\x10\x01", errMalformed},
		"a number in the list":            {string(wire(t, []byte(meta+"\x10\x01"))), errMalformed},
		"field 0 in the list":             {string(wire(t, []byte(meta+"\x02\x00"))), errMalformed},
		"an item longer than the list":    {string(wire(t, []byte(meta+"\x12\x05abc"))), errMalformed},
		"an item longer than any": {magic + "\x12\xff\xff\xff\xff\xff\xff\x01\x0a\x00\x12\xff\xff\xff\xff\x7f",
			errMalformed},
		"a list longer than the body":  {magic + "\x12\xff\xff\xff\xff\x0f" + meta + "\x12\x80\x80\x40", errTruncated},
		"a tag of 70 bits":             {magic + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", errMalformed},
		"a length of 65 bits":          {magic + "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", errMalformed},
		"metadata that is none":        {string(wire(t, []byte("\x0a\x01\xff"))), errMalformed},
		"an item that is none":         {string(wire(t, []byte(meta+"\x12\x01\xff"))), errMalformed},
		"an owner that is none":        {string(wire(t, []byte(meta+"\x12\x05\x0a\x03\x6a\x01\xff"))), errMalformed},
		"a time that is none":          {string(wire(t, []byte(meta+"\x12\x05\x0a\x03\x42\x01\xff"))), errMalformed},
		"a huge field around the list": {magic + "\x0a\xff\xff\xff\xff\x7f", errMalformed},
		"another encoding style":       {"k8s\x01" + meta, errMalformed},

		"text":                    {"404 page not found", errMalformed},
		"a page":                  {"<html>log in</html>", errMalformed},
		"a string":                {`"hello"`, errMalformed},
		"null in place of a list": {`null`, errMalformed},
		"an array":                {`[    ]`, errMalformed},
		"no keys":                 {`{    }`, errMalformed},
		"a status in JSON": {`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":500}`,
			errMalformed},
		"items that are an object": {`{"metadata":{},"items":{}}`, errMalformed},
		"items that are a string":  {`{"metadata":{},"items":"none"}`, errMalformed},
		"a discovery document":     {`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[]}`, errMalformed},
		"an item that is a number": {`{"items":[1]}`, errMalformed},
		"a name that is a number":  {`{"items":[{"metadata":{"name":1}}]}`, errMalformed},
		"a time that is a number":  {`{"items":[{"metadata":{"creationTimestamp":5}}]}`, errMalformed},
		"a time that is a word":    {`{"items":[{"metadata":{"deletionTimestamp":"soon"}}]}`, errMalformed},
		"a comma too much":         {`{"items":[{},]}`, errMalformed},
		"a list after the list":    {`{"items":[]}{"items":[]}`, errMalformed},
		"text after the list":      {`{"items":[]} and more`, errMalformed},
		"a bracket that is wrong":  {`{"items":[}`, errMalformed},
		"half a list":              {`{"metadata":{},"items":[{}`, errTruncated},
	}
	for name, tt := range tests {
		for _, buffer := range []int{16, readBuffer} {
			got, err := decode(bytes.NewReader([]byte(tt.body)), buffer, extras{})
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: error %v, want %v; read %+v", name, err, tt.want, got)
			}
		}
	}
}

// TestLabelsThatAreNone: labels are looked at for a selector only, and then have to be labels.
func TestLabelsThatAreNone(t *testing.T) {
	body := []byte(`{"items":[{"metadata":{"name":"x","labels":{"a":1}}}]}`)
	if _, err := decodeBytes(body, extras{}); err != nil {
		t.Errorf("without a selector: %v", err)
	}
	if _, err := decodeBytes(body, extras{selector: selectorOf(t, "a")}); !errors.Is(err, errMalformed) {
		t.Errorf("with a selector: %v", err)
	}
}

// TestItemError: the first object that cannot be taken ends the reading.
func TestItemError(t *testing.T) {
	enough := errors.New("enough")
	body := encode(t, "protobuf", metadataList(metav1.ObjectMeta{Name: "one"}, metav1.ObjectMeta{Name: "two"}))
	items := 0
	w := wireReader{r: bufio.NewReader(bytes.NewReader(body))}
	err := w.list(func(listMeta) {}, func([]byte) error {
		items++
		return fmt.Errorf("item %d: %w", items, enough)
	})
	if !errors.Is(err, enough) || items != 1 {
		t.Errorf("error %v after %d items", err, items)
	}
}
