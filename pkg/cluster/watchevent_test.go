package cluster

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/framer"
	"k8s.io/apimachinery/pkg/watch"
)

// streams encode an event as a server does, by the name of what it sends.
var streams = map[string]func(testing.TB, watch.EventType, apiruntime.Object) []byte{
	"protobuf": func(t testing.TB, kind watch.EventType, o apiruntime.Object) []byte {
		t.Helper()
		e := metav1.WatchEvent{Type: string(kind), Object: apiruntime.RawExtension{Raw: encode(t, "protobuf", o)}}
		raw, err := e.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return framed(t, raw)
	},
	"json": func(t testing.TB, kind watch.EventType, o apiruntime.Object) []byte {
		t.Helper()
		e := metav1.WatchEvent{Type: string(kind), Object: apiruntime.RawExtension{Object: o}}
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return append(raw, '\n')
	},
}

// framed is a frame of a watch.
func framed(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := framer.NewLengthDelimitedFrameWriter(&b).Write(raw); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// randomEvents are events, what they come to, and where in the stream each ends.
func randomEvents(t testing.TB, stream string, seed uint64) (body []byte, want []watchEvent, ends []int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	kinds := []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}
	for range 2 + r.IntN(10) {
		list := metadataList(randomMeta(r))
		kind, item := kinds[r.IntN(len(kinds))], &list.Items[0]
		e := watchEvent{kind: kind}
		o := pick(item, nil)
		e.object = &o
		if item.DeletionGracePeriodSeconds != nil {
			e.gracePeriod = *item.DeletionGracePeriodSeconds
		}
		body = append(body, streams[stream](t, kind, item)...)
		want, ends = append(want, e), append(ends, len(body))
	}
	return body, want, ends
}

// eventsOf reads a watch to its end and keeps what it hands on.
func eventsOf(r io.Reader, buffer int, keep extras) ([]watchEvent, error) {
	var got []watchEvent
	err := readEvents(bufio.NewReaderSize(r, buffer), keep, func(e watchEvent) {
		e.raw = nil // it is valid until the next one is read
		got = append(got, e)
	})
	return got, err
}

func eventDifference(want, got []watchEvent) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(watchEvent{}), cmpopts.EquateEmpty())
}

// TestEventsRoundTrip: what a server encodes comes out as if all of it had been decoded, in
// whatever pieces it comes. No object changes when the next one is read.
func TestEventsRoundTrip(t *testing.T) {
	for seed := range uint64(40) {
		for stream := range streams {
			body, want, _ := randomEvents(t, stream, seed)
			for _, buffer := range []int{16, 4096} {
				for _, r := range []io.Reader{bytes.NewReader(body), iotest.HalfReader(bytes.NewReader(body))} {
					got, err := eventsOf(r, buffer, extras{})
					if diff := eventDifference(want, got); err != nil || diff != "" {
						t.Errorf("seed %d, %s: %v\n%s", seed, stream, err, diff)
					}
				}
			}
		}
	}
}

// TestEventsKeepWhatIsAskedFor: the selector and the annotations of a store, of one object after
// the other.
func TestEventsKeepWhatIsAskedFor(t *testing.T) {
	keep := extras{selector: selectorOf(t, "k=v"), annotations: []string{"kept"}}
	list := metadataList(
		metav1.ObjectMeta{Name: "one", Labels: map[string]string{"k": "v"},
			Annotations: map[string]string{"kept": "1", "not": "x"}},
		metav1.ObjectMeta{Name: "two", Labels: map[string]string{"k": "w"}, Annotations: map[string]string{"kept": "2"}},
		metav1.ObjectMeta{Name: "three"})
	for stream, encode := range streams {
		var body []byte
		for i := range list.Items {
			body = append(body, encode(t, watch.Added, &list.Items[i])...)
		}
		events, err := eventsOf(bytes.NewReader(body), 4096, keep)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprintf("%s %t %v", e.object.Name, e.object.Selected, e.object.Annotations))
		}
		if want := []string{"one true map[kept:1]", "two false map[kept:2]", "three false map[]"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", stream, got, want)
		}
	}
}

// TestTruncatedEvents: a watch that ends in the middle of an event is an error, and the events
// before are right. One that ends between two is none.
func TestTruncatedEvents(t *testing.T) {
	list := shortList()
	for stream, encode := range streams {
		var body []byte
		var want []watchEvent
		var ends []int
		for i, kind := range []watch.EventType{watch.Bookmark, watch.Deleted} {
			o := pick(&list.Items[i], nil)
			body = append(body, encode(t, kind, &list.Items[i])...)
			want, ends = append(want, watchEvent{kind: kind, object: &o}), append(ends, len(body))
		}
		for end := range body {
			whole := 0
			for whole < len(ends) && ends[whole] <= end {
				whole++
			}
			between := end == 0 || slices.Contains(ends, end)
			if stream == "json" && slices.Contains(ends, end+1) { // but for the end of the line
				between, whole = true, whole+1
			}
			got, err := eventsOf(bytes.NewReader(body[:end]), 16, extras{})
			if (err == nil) != between || err != nil && !errors.Is(err, errTruncated) {
				t.Errorf("%s: after %d of %d bytes: error %v", stream, end, len(body), err)
			}
			if diff := eventDifference(want[:whole], got); diff != "" {
				t.Errorf("%s: after %d of %d bytes:\n%s", stream, end, len(body), diff)
			}
			broken := errors.New("connection reset by peer")
			_, err = eventsOf(io.MultiReader(bytes.NewReader(body[:end]), iotest.ErrReader(broken)), 16, extras{})
			if !errors.Is(err, broken) {
				t.Errorf("%s: broken after %d of %d bytes: %v", stream, end, len(body), err)
			}
		}
	}
}

// TestTruncatedObject: an answer about one object that ends early is no object.
func TestTruncatedObject(t *testing.T) {
	list := shortList()
	body := encode(t, "protobuf", &list.Items[0])
	for end := range body {
		if o, _, err := decodeMetadata(body[:end], extras{}); err == nil && !isTail(body[end:]) || err != nil &&
			!errors.Is(err, errMalformed) {
			t.Errorf("after %d of %d bytes: %+v, error %v", end, len(body), o, err)
		}
	}
	o, _, err := decodeMetadata(body, extras{})
	if want := pick(&list.Items[0], nil); err != nil || !cmp.Equal(want, *o, cmpopts.EquateEmpty()) {
		t.Errorf("%+v, error %v, want %+v", o, err, want)
	}
}

// TestErrorEvents: an expired watch is recognized in both formats, and another error is what it
// says. Events before it were handed on, and what follows is not read.
func TestErrorEvents(t *testing.T) {
	for stream, encode := range streams {
		for code, expired := range map[int32]bool{http.StatusGone: true, http.StatusInternalServerError: false} {
			one := &metadataList(metav1.ObjectMeta{Name: "one", ResourceVersion: "5"}).Items[0]
			status := &metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
				Status:   metav1.StatusFailure, Code: code, Message: "no more of this",
			}
			body := slices.Concat(encode(t, watch.Added, one), encode(t, watch.Error, status), encode(t, watch.Deleted, one))
			got, err := eventsOf(bytes.NewReader(body), 4096, extras{})
			if err == nil || err.Error() != "no more of this" || apierrors.IsResourceExpired(err) != expired {
				t.Errorf("%s, %d: error %v", stream, code, err)
			}
			if len(got) != 1 || got[0].kind != watch.Added {
				t.Errorf("%s, %d: events %+v", stream, code, got)
			}
		}
	}
}

// TestMalformedEvents: what is no event is an error, and never taken for one.
func TestMalformedEvents(t *testing.T) {
	object := encode(t, "protobuf", &metadataList(metav1.ObjectMeta{Name: "one"}).Items[0])
	event := func(kind string, raw []byte) string {
		e := metav1.WatchEvent{Type: kind, Object: apiruntime.RawExtension{Raw: raw}}
		b, err := e.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return string(framed(t, b))
	}
	frame := func(raw string) string { return string(framed(t, []byte(raw))) }
	for name, body := range map[string]string{
		"an empty frame":                 frame(""),
		"an event without an object":     frame("\x0a\x05ADDED"),
		"an empty object":                frame("\x0a\x05ADDED\x12\x00"),
		"an object that is a number":     frame("\x0a\x05ADDED\x10\x01"),
		"no type":                        event("", object),
		"a type that is none":            event("added", object),
		"an object in JSON":              event("ADDED", []byte(`{"metadata":{"name":"one"}}`)),
		"an object of nothing":           event("ADDED", protobufMagic),
		"an object that is none":         event("ADDED", []byte("k8s\x00\x12\x02\x0a\x09")),
		"an error of nothing":            event("ERROR", nil),
		"an error that is none":          event("ERROR", []byte("k8s\x00\x12\x02\x0a\x09")),
		"a frame that is none":           frame("\xff"),
		"a field 0":                      frame("\x02\x00"),
		"longer than any":                string(binary.BigEndian.AppendUint32(nil, maxItem+1)) + "abc",
		"longer than any, after another": event("BOOKMARK", object) + "\xff\xff\xff\xff",
		"a page":                         "<html>log in</html>",
		"a list":                         `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`,
		"no keys":                        "{}",
		"no type in JSON":                `{"object":{"metadata":{"name":"one"}}}`,
		"a type that is none in JSON":    `{"type":"added","object":{"metadata":{"name":"one"}}}`,
		"an object that is text in JSON": `{"type":"ADDED","object":"one"}`,
		"an object of protobuf":          string(object),
	} {
		got, err := eventsOf(bytes.NewReader([]byte(body)), 16, extras{})
		if !errors.Is(err, errMalformed) {
			t.Errorf("%s: error %v, events %+v", name, err, got)
		}
		if slices.ContainsFunc(got, func(e watchEvent) bool { return e.kind != watch.Bookmark }) {
			t.Errorf("%s: events %+v", name, got)
		}
	}
}

// TestAFrameThatLiesAboutItsLengthCostsNothing: memory is taken for what has come.
func TestAFrameThatLiesAboutItsLengthCostsNothing(t *testing.T) {
	body := append(binary.BigEndian.AppendUint32(nil, maxItem), make([]byte, 10_000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := eventsOf(bytes.NewReader(body), 4096, extras{})
	runtime.ReadMemStats(&after)
	if !errors.Is(err, errTruncated) {
		t.Errorf("error %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("%d bytes were allocated for a frame of %d", took, len(body))
	}
}

// TestAllocationsOfEvents: as few as an object needs that is handed on.
func TestAllocationsOfEvents(t *testing.T) {
	const events = 50
	for stream, most := range map[string]float64{"protobuf": 7, "json": 60} {
		var body []byte
		for _, m := range padded(events, 16) {
			body = append(body, streams[stream](t, watch.Modified, &metadataList(m).Items[0])...)
		}
		got := testing.AllocsPerRun(5, func() {
			if err := readEvents(bufio.NewReader(bytes.NewReader(body)), extras{}, func(watchEvent) {}); err != nil {
				t.Fatal(err)
			}
		}) / events
		t.Logf("%s: %.2f allocations for each event", stream, got)
		if got > most+0.5 { // all that the process allocates is counted
			t.Errorf("%s: %.2f allocations for each event, want at most %.0f", stream, got, most)
		}
	}
}
