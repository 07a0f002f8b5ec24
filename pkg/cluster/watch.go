package cluster

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protowire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ResumePoint is where a listing of a type ended: a watch from there misses nothing.
type ResumePoint struct {
	Type            graph.Type
	Namespace       string
	ResourceVersion string
}

// rewatchDelay keeps a watch that the server ends at once from turning into a storm of requests.
const rewatchDelay = time.Second

// Change is what a watch has seen.
type Change struct {
	// Object is as it was seen last; nil if events may have been missed, and Relisted then says
	// what there is.
	Object *graph.Object
	// Gone says that it is no more.
	Gone bool
	// GracePeriodSeconds is the Object's deletionGracePeriodSeconds, 0 if it has none. It stands
	// here and not in the Object, of which a listing keeps as many as a cluster has.
	GracePeriodSeconds int64
	// Relisted are the uids of all objects of the type and namespace of the ResumePoint.
	Relisted map[string]bool
	// Before is the object as a Store held it before the change; nil if it did not, or if nothing
	// is held. Missing are the uids of those that it held and that a list does not show any more,
	// when the Object is nil. That a list leaves them out does not prove that they are gone.
	Before      *graph.Object
	Missing     []string
	ResumePoint ResumePoint
	// Definition is the name of the CRD that defines the type, as a Store has seen it; empty if
	// none does.
	Definition string
}

// Watch watches the types from the given resume points on until the context ends, and calls changed
// with every change. Changed is called from several goroutines.
//
// A type that may not be watched (403), or that the server does not watch (405), is listed every
// PollInterval, and what has changed since the list before is handed on. One whose watch is not
// answered, or falls silent, is listed and watched again. The error is the context's, or the
// server's if credentials are refused (401); or an *UnseenError if none of the resume points can be
// watched or listed.
func (c *Client) Watch(ctx context.Context, points []ResumePoint, changed func(Change)) error {
	group, ctx := errgroup.WithContext(ctx)
	unseen := &unseen{points: int64(len(points))}
	for _, p := range points {
		group.Go(func() error { return c.watchType(ctx, p, unseen, changed) })
	}
	return group.Wait()
}

// watchType keeps one watch open. One that ends is resumed; where it cannot be (410), or there is
// nothing to begin with, it begins with a list.
func (c *Client) watchType(ctx context.Context, p ResumePoint, unseen *unseen, changed func(Change)) error {
	for {
		var err error
		if p.ResourceVersion == "" {
			listed := map[string]bool{}
			if p, err = c.ForEachMeta(ctx, p.Type, p.Namespace, func(o *graph.Object) { listed[o.UID] = true }); err == nil {
				changed(Change{Relisted: listed, ResumePoint: p})
			}
		}
		opened := false
		if err == nil {
			err = c.watchOnce(ctx, &p, extras{}, func() { opened = true }, changed)
		}
		silent := isSilent(err) || !opened && IsTimeout(err)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case apierrors.IsUnauthorized(err):
			return err
		case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err), silent:
			if p, err = c.poll(ctx, p, silent, unseen, changed); err != nil {
				return err
			}
		case apierrors.IsResourceExpired(err):
			p.ResourceVersion = ""
		case err != nil:
			klog.FromContext(ctx).V(3).Info("Watch ended", "resource", p.Type.Resource, "group", p.Type.Group, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(rewatchDelay):
		}
	}
}

// watchOnce watches a type from a resume point, which it moves on, until the watch ends. It calls
// opened when the server has begun to answer.
func (c *Client) watchOnce(ctx context.Context, p *ResumePoint, keep extras, opened func(),
	changed func(Change)) error {
	body, err := c.watchRequest(*p).Stream(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	opened()
	// Most types are silent, and there can be hundreds: the buffer is a small one.
	return readEvents(bufio.NewReader(body), keep, func(e watchEvent) {
		p.ResourceVersion = e.object.ResourceVersion
		if e.kind != watch.Bookmark {
			changed(Change{
				Object: e.object, Gone: e.kind == watch.Deleted,
				GracePeriodSeconds: e.gracePeriod, ResumePoint: *p,
			})
		}
	})
}

// watchRequest asks to watch a type from a resume point.
func (c *Client) watchRequest(p ResumePoint) *rest.Request {
	req := c.rest.Get().AbsPath(resourcePath(p.Type, p.Namespace)...).SetHeader("Accept", acceptMetadata).
		WarningHandlerWithContext(quietWarnings{}).
		Param("watch", "true").Param("allowWatchBookmarks", "true")
	if p.ResourceVersion != "" {
		req.Param("resourceVersion", p.ResourceVersion)
	}
	return req
}

func (c *Client) interval() time.Duration { return cmp.Or(c.pollInterval, DefaultPollInterval) }

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
