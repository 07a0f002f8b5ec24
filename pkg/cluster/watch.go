package cluster

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
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
	unseen := &unseen{points: len(points)}
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
	path := resourcePath(p.Type.Group, p.Type.Version, p.Type.Resource, p.Namespace)
	req := c.rest.Get().AbsPath(path...).SetHeader("Accept", acceptMetadata).
		WarningHandlerWithContext(quietWarnings{}).
		Param("watch", "true").Param("allowWatchBookmarks", "true")
	if p.ResourceVersion != "" {
		req.Param("resourceVersion", p.ResourceVersion)
	}
	return req
}

// catchUpTimeout is how long a server watches for CatchUp. It sends a bookmark two seconds before the
// end (apiserver/pkg/storage/cacher, nextBookmarkTime), and none to a shorter watch.
const catchUpTimeout = 3 * time.Second

// CatchUp calls changed with each change of a list since it ended at a resume point, in order: the
// object, whether it is gone, and its encoding, a PartialObjectMetadata in protobuf, which is valid
// during the call. It returns where the list ends now.
//
// That nothing is missing needs a witness: an event or a bookmark of the watch that is not older than
// the resourceVersion of a list that was asked for before. Without one the error is of the reason
// Expired, as from a server that does not remember the resume point any more: the list has to be read
// again. An object without a uid, which cannot be told from another of its name, has the same error.
func (c *Client) CatchUp(ctx context.Context, p ResumePoint,
	changed func(o *graph.Object, gone bool, item []byte)) (ResumePoint, error) {
	now, err := c.listVersion(ctx, p)
	if err != nil {
		return p, err
	}
	ahead, err := resourceversion.CompareResourceVersion(now, p.ResourceVersion)
	if err != nil || ahead < 0 { // as after a backup of etcd was restored
		return p, apierrors.NewResourceExpired(fmt.Sprintf("resourceVersion %s is behind %s", now, p.ResourceVersion))
	}
	if ahead == 0 {
		return p, nil
	}
	watching, cancel := context.WithTimeout(ctx, 2*catchUpTimeout)
	defer cancel()
	seconds := strconv.Itoa(int(catchUpTimeout / time.Second))
	body, err := c.watchRequest(p).Param("timeoutSeconds", seconds).Stream(watching)
	if err != nil {
		return p, err
	}
	defer body.Close()
	complete := false
	err = readEvents(bufio.NewReader(body), extras{}, func(e watchEvent) {
		if watching.Err() != nil { // what comes later is not asked for
			return
		}
		p.ResourceVersion = e.object.ResourceVersion
		ahead, bad := resourceversion.CompareResourceVersion(p.ResourceVersion, now)
		if e.kind != watch.Bookmark && bad == nil {
			if e.object.UID == "" {
				cancel()
				return
			}
			var item []byte
			if item, bad = itemOf(e.raw); bad == nil {
				changed(e.object, e.kind == watch.Deleted, item)
			}
		}
		if complete = bad == nil && ahead >= 0; complete || bad != nil {
			cancel()
		}
	})
	switch {
	case complete:
		return p, nil
	case ctx.Err() == nil && (err == nil || watching.Err() != nil):
		return p, apierrors.NewResourceExpired("the server does not say that no change is missing")
	}
	return p, err
}

// listVersion returns where a list of a type ends.
func (c *Client) listVersion(ctx context.Context, p ResumePoint) (string, error) {
	one := *c
	one.pageSize = 1
	var meta listMeta
	err := one.read(ctx, page{path: resourcePath(p.Type.Group, p.Type.Version, p.Type.Resource, p.Namespace)},
		func(m listMeta) { meta = m }, func(*graph.Object) {})
	return meta.resourceVersion, err
}

// itemOf encodes the object of an event as the item of a list.
func itemOf(raw []byte) ([]byte, error) {
	if bytes.HasPrefix(raw, protobufMagic) {
		return unwrap(raw)
	}
	return inProtobuf(raw)
}

// DefaultPollInterval is how often a type is listed that may not be watched.
const DefaultPollInterval = 5 * time.Second

// WithPollInterval returns a Client that shares the connections of this one and lists types that
// may not be watched at another interval; 0 means DefaultPollInterval.
func (c *Client) WithPollInterval(d time.Duration) *Client {
	with := *c
	with.pollInterval = d
	return &with
}

func (c *Client) interval() time.Duration { return cmp.Or(c.pollInterval, DefaultPollInterval) }

// UnseenError says that nothing can be waited for: all that was to be watched may neither be
// watched nor listed, or is not answered.
type UnseenError struct {
	// Type and Namespace are one of the types, and Err is what the server says of it.
	Type      graph.Type
	Namespace string
	Err       error
}

// Error says what to ask for.
func (e *UnseenError) Error() string {
	where := ""
	if e.Namespace != "" {
		where = fmt.Sprintf(" in namespace %q", e.Namespace)
	}
	needed := "; the verb list or watch is needed to wait for changes"
	if IsTimeout(e.Err) {
		needed = ""
	}
	return fmt.Sprintf("%s%s can neither be watched nor listed: %v%s", e.Type.Resource, where, e.Err, needed)
}

// Unwrap returns what the server says.
func (e *UnseenError) Unwrap() error { return e.Err }

// unseen counts the resume points of a Watch that can neither be watched nor listed.
type unseen struct {
	mu     sync.Mutex
	points int
	blind  int
}

// add counts n more, or fewer, and says whether it is all of them.
func (u *unseen) add(n int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.blind += n
	return u.blind == u.points
}

// poll lists a type again and again instead of watching it; once, until a list is answered, from
// where it can be watched again. Otherwise it returns with an error only.
func (c *Client) poll(ctx context.Context, p ResumePoint, once bool, unseen *unseen, changed func(Change)) (ResumePoint,
	error) {
	var before map[string]string // resourceVersions by uid
	blind := false
	for {
		var different []graph.Object
		now, listed := map[string]string{}, map[string]bool{}
		at, err := c.ForEachMeta(ctx, p.Type, p.Namespace, func(o *graph.Object) {
			now[o.UID], listed[o.UID] = o.ResourceVersion, true
			if before != nil && before[o.UID] != o.ResourceVersion {
				kept := *o // whose strings stay valid
				kept.Owners, kept.Finalizers = slices.Clone(o.Owners), slices.Clone(o.Finalizers)
				different = append(different, kept)
			}
		})
		switch {
		case ctx.Err() != nil:
			return p, context.Cause(ctx)
		case apierrors.IsUnauthorized(err):
			return p, err
		case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err), IsTimeout(err):
			if !blind && unseen.add(1) {
				return p, &UnseenError{Type: p.Type, Namespace: p.Namespace, Err: err}
			}
			blind = true
		case err != nil:
			klog.FromContext(ctx).V(3).Info("List ended", "resource", p.Type.Resource, "group", p.Type.Group, "err", err)
		default:
			if blind {
				blind = false
				unseen.add(-1)
			}
			for i := range different {
				changed(Change{Object: &different[i], ResumePoint: at})
			}
			maps.DeleteFunc(before, func(uid, _ string) bool { return listed[uid] })
			if before == nil || len(before) > 0 {
				changed(Change{Relisted: listed, ResumePoint: at})
			}
			if before = now; once {
				return at, nil
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(c.interval()):
		}
	}
}
