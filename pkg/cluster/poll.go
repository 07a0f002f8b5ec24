package cluster

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// DefaultPollInterval is how often a type is listed that may not be watched.
const DefaultPollInterval = 5 * time.Second

// WithPollInterval returns a Client that shares the connections of this one and lists types that
// may not be watched at another interval; 0 means DefaultPollInterval.
func (c *Client) WithPollInterval(d time.Duration) *Client {
	with := *c
	with.pollInterval = d
	return &with
}

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
	points int64
	blind  atomic.Int64
}

// add counts n more, or fewer, and reports whether it is all of them.
func (u *unseen) add(n int64) bool { return u.blind.Add(n) == u.points }

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
	err := one.read(ctx, page{path: resourcePath(p.Type, p.Namespace)},
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
