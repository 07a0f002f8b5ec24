package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Field numbers of WatchEvent and RawExtension (generated.proto of apimachinery).
const (
	eventType    = 1
	eventObject  = 2
	extensionRaw = 1
)

// watchEvent is one event of a watch that is about an object.
type watchEvent struct {
	kind        watch.EventType
	object      *graph.Object
	gracePeriod int64
	// raw is the object as the server encoded it, valid until the next event is read.
	raw []byte
}

// readEvents hands on the events of a watch, in either format, until the answer ends. An event of
// the type ERROR is returned as the error that it is; what is incomplete or malformed is no event.
func readEvents(r *bufio.Reader, keep extras, event func(watchEvent)) error {
	head, err := r.Peek(1)
	if errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	next := jsonEvents(r)
	// A frame begins with its length, most significant byte first, and JSON with text.
	if head[0] <= maxItem>>24 {
		next = (&wireReader{r: r}).event
	}
	for {
		e, err := next(keep)
		if errors.Is(err, io.EOF) {
			return nil // the server ends every watch after a while
		} else if err != nil {
			return err
		}
		switch e.kind {
		case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark:
			event(e)
		default:
			return fmt.Errorf("%w: an event of the type %q", errMalformed, e.kind)
		}
	}
}

// jsonEvents returns what reads the next event, or returns io.EOF after the last.
func jsonEvents(r io.Reader) func(extras) (watchEvent, error) {
	dec := json.NewDecoder(r)
	return func(keep extras) (watchEvent, error) {
		var e struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return watchEvent{}, io.EOF
		} else if err != nil {
			return watchEvent{}, jsonError(err)
		}
		if e.Type == watch.Error {
			var s metav1.Status
			if err := json.Unmarshal(e.Object, &s); err != nil {
				return watchEvent{}, jsonError(err)
			}
			return watchEvent{}, watchError(&s)
		}
		var it jsonItem
		if err := json.Unmarshal(e.Object, &it); err != nil {
			return watchEvent{}, jsonError(err)
		}
		o, err := it.object(keep)
		return watchEvent{e.Type, o, it.gracePeriod(), e.Object}, err
	}
}

// event reads the next frame. It returns io.EOF, and no other error is that, after the last.
func (w *wireReader) event(keep extras) (watchEvent, error) {
	frame, buffered, err := w.frame()
	if err != nil {
		return watchEvent{}, err
	}
	e, err := decodeEvent(frame, keep)
	if err != nil {
		return watchEvent{}, err
	}
	_, err = w.r.Discard(buffered)
	return e, err
}

// decodeEvent reads a WatchEvent. Its object has the form of an answer about one object.
func decodeEvent(frame []byte, keep extras) (e watchEvent, err error) {
	var object []byte
	err = fields(frame, func(num protowire.Number, f field) error {
		switch num {
		case eventType:
			e.kind = watch.EventType(f.bytes)
		case eventObject:
			return fields(f.bytes, func(num protowire.Number, f field) error {
				if num == extensionRaw {
					object = f.bytes
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	if e.kind == watch.Error {
		raw, err := unwrap(object)
		if err != nil {
			return e, err
		}
		var s metav1.Status
		if err := s.Unmarshal(raw); err != nil {
			return e, fmt.Errorf("%w: %w", errMalformed, err)
		}
		return e, watchError(&s)
	}
	e.raw = object
	e.object, e.gracePeriod, err = decodeMetadata(object, keep)
	return e, err
}

// watchError is what an event of the type ERROR says.
func watchError(s *metav1.Status) error {
	if s.Code == http.StatusGone {
		return apierrors.NewResourceExpired(s.Message)
	}
	return errors.New(s.Message)
}
