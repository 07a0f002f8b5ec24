package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"testing/iotest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// FuzzWire reads anything as an answer in protobuf.
func FuzzWire(f *testing.F) {
	f.Add(encode(f, "protobuf", shortList())[len(protobufMagic):])
	f.Fuzz(func(t *testing.T, data []byte) {
		body := append(bytes.Clone(protobufMagic), data...)
		got, err := checkDecode(t, body)
		var unknown runtime.Unknown
		var list metav1.PartialObjectMetadataList
		if unknown.Unmarshal(data) != nil || list.Unmarshal(unknown.Raw) != nil {
			return
		}
		// What the generated code reads and would write again in the same way is no odd encoding,
		// and has to be read alike.
		if again, failed := list.Marshal(); failed != nil || !bytes.Equal(again, unknown.Raw) {
			return
		}
		if again, failed := unknown.Marshal(); failed != nil || !bytes.Equal(again, data) {
			return
		}
		if diff := difference(picked(t, &list, selectorOf(t, "k=v")), got); err != nil || diff != "" {
			t.Errorf("error %v\n%s", err, diff)
		}
	})
}

// FuzzJSON reads anything as an answer in JSON. What encoding/json makes of it, if it makes
// anything of it, is encoded again and has to be read alike.
func FuzzJSON(f *testing.F) {
	f.Add(encode(f, "json", shortList()))
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.HasPrefix(body, protobufMagic) {
			return
		}
		_, _ = checkDecode(t, body)
		var list metav1.PartialObjectMetadataList
		if json.Unmarshal(body, &list) != nil {
			return
		}
		again, err := json.Marshal(&list)
		if err != nil {
			return // a year of more than four digits
		}
		got, err := checkDecode(t, again)
		if diff := difference(picked(t, &list, selectorOf(t, "k=v")), got); err != nil || diff != "" {
			t.Errorf("error %v\n%s\nof %s", err, diff, again)
		}
	})
}

// FuzzEvents reads anything as a watch. What the generated code reads as an event is encoded again
// and has to be read alike.
func FuzzEvents(f *testing.F) {
	body, _, ends := randomEvents(f, "protobuf", 1)
	f.Add(body)
	f.Add(body[4:ends[0]])
	body, _, _ = randomEvents(f, "json", 1)
	f.Add(body)
	f.Add(streams["protobuf"](f, watch.Error, &metav1.Status{Code: http.StatusGone, Message: "expired"}))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := eventsOf(bytes.NewReader(body), 4096, extras{})
		again, errAgain := eventsOf(iotest.OneByteReader(bytes.NewReader(body)), 16, extras{})
		if diff := eventDifference(got, again); diff != "" || (err == nil) != (errAgain == nil) {
			t.Errorf("in small pieces: errors %v and %v\n%s", err, errAgain, diff)
		}
		var e metav1.WatchEvent
		var unknown runtime.Unknown
		var o metav1.PartialObjectMetadata
		if e.Unmarshal(body) != nil || unknown.Unmarshal(bytes.TrimPrefix(e.Object.Raw, protobufMagic)) != nil ||
			o.Unmarshal(unknown.Raw) != nil {
			return
		}
		want := watchEvent{kind: watch.Modified}
		kept := pick(&o, nil)
		want.object = &kept
		if o.DeletionGracePeriodSeconds != nil {
			want.gracePeriod = *o.DeletionGracePeriodSeconds
		}
		got, err = eventsOf(bytes.NewReader(streams["protobuf"](t, want.kind, &o)), 4096, extras{})
		if diff := eventDifference([]watchEvent{want}, got); err != nil || diff != "" {
			t.Errorf("error %v\n%s", err, diff)
		}
	})
}

// checkDecode decodes a body, and again in other pieces, which must not matter. An error is one of
// the two that say what is wrong with a body.
func checkDecode(t *testing.T, body []byte) (decoded, error) {
	t.Helper()
	selector := selectorOf(t, "k=v")
	got, err := decodeBytes(body, extras{selector: selector})
	if err != nil && !errors.Is(err, errTruncated) && !errors.Is(err, errMalformed) {
		t.Errorf("error %v", err)
	}
	again, errAgain := decode(iotest.OneByteReader(bytes.NewReader(body)), 16, extras{selector: selector})
	if diff := difference(got, again); diff != "" || (err == nil) != (errAgain == nil) {
		t.Errorf("in small pieces: errors %v and %v\n%s", err, errAgain, diff)
	}
	return got, err
}
