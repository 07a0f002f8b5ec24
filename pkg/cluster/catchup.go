package cluster

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

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
