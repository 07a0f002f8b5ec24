package serve

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// longList is how many bytes of metadata a list has, at least, that is continued from a snapshot.
// A shorter one costs no more than its watch: the cluster is asked for it.
const longList = 1 << 20

// Refreshed are the long lists of a snapshot with what has changed in them since. It is safe for
// concurrent use.
type Refreshed struct {
	lists map[schema.GroupResource]*refreshedList
	// Changes is how many were seen. Expired are types whose changes the server does not remember:
	// they are listed again.
	Changes int
	Expired []schema.GroupResource
}

// Lists is how many lists are continued; the cluster is asked for all others.
func (r *Refreshed) Lists() int { return len(r.lists) }

// refreshedList is a list in pages, as snapshot.Items are encoded.
type refreshedList struct {
	version string
	pages   []func() ([]byte, error)
	// changed are the objects of which the pages have an earlier state, by uid, and now what there
	// is of these and of new ones.
	changed map[string]bool
	now     snapshot.Items
}

// Refresh continues the long lists of a snapshot on the cluster that it is of, by a watch from where
// each ended.
func Refresh(ctx context.Context, client *cluster.Client, d *dump.Dump) (*Refreshed, error) {
	long := slices.DeleteFunc(slices.Clone(d.Types), func(t *dump.Type) bool {
		_, version := t.Pages()
		return version == "" || !t.Covers("") || t.Size() < longList || !slices.Contains(t.Verbs, "watch")
	})
	r := &Refreshed{lists: map[schema.GroupResource]*refreshedList{}}
	var mu sync.Mutex
	err := cluster.EachUntil(ctx, client, long, func(ctx context.Context, _ int, t *dump.Type) error {
		list, changes, err := catchUp(ctx, client, t)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		mu.Lock()
		defer mu.Unlock()
		of := schema.GroupResource{Group: t.Group, Resource: t.Name}
		switch {
		case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
			r.Expired = append(r.Expired, of)
		case err == nil: // the cluster is asked for another, and says what is wrong
			r.lists[of] = list
			r.Changes += changes
		}
		return nil
	})
	return r, err
}

// catchUp returns a list as it is now, and how many changes there were.
func catchUp(ctx context.Context, client *cluster.Client, t *dump.Type) (*refreshedList, int, error) {
	pages, version := t.Pages()
	now, changes := map[string][]byte{}, 0
	of := graph.Type{Group: t.Group, Version: t.Version, Resource: t.Name, Kind: t.Kind, Namespaced: t.Namespaced}
	at := cluster.ResumePoint{Type: of, ResourceVersion: version}
	at, err := client.CatchUp(ctx, at, func(o *graph.Object, gone bool, item []byte) {
		changes++
		now[o.UID] = nil
		if !gone {
			now[o.UID] = bytes.Clone(item)
		}
	})
	if err != nil {
		return nil, 0, err
	}
	l := &refreshedList{version: at.ResourceVersion, pages: pages, changed: map[string]bool{}}
	for uid, item := range now {
		l.changed[uid] = true
		if item != nil {
			err = cmp.Or(err, l.now.Add(item))
		}
	}
	return l, changes, err
}

// page returns one page as it is now; the last one has what has changed.
func (l *refreshedList) page(at int) ([]byte, error) {
	if at == len(l.pages) {
		return l.now.Encoded, nil
	}
	page, err := l.pages[at]()
	if err != nil || len(l.changed) == 0 {
		return page, err
	}
	return snapshot.Without(page, l.changed)
}

// Wrap returns a transport that answers these lists, and has another one answer all else.
func (r *Refreshed) Wrap(next http.RoundTripper) http.RoundTripper { return &refreshing{next, r} }

type refreshing struct {
	next  http.RoundTripper
	lists *Refreshed
}

// RoundTrip implements http.RoundTripper.
func (t *refreshing) RoundTrip(r *http.Request) (*http.Response, error) {
	l := t.lists.of(r)
	if l == nil {
		return t.next.RoundTrip(r)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return respond(r, l.answer(r.URL.Query().Get("continue"))), nil
}

// of returns the list that a request asks for; nil if that is none of these, or a part of one, or if
// the answer is to have more of the metadata than a snapshot.
func (r *Refreshed) of(req *http.Request) *refreshedList {
	query := req.URL.Query()
	for _, narrows := range []string{"watch", "labelSelector", "fieldSelector", "resourceVersion"} {
		if query.Get(narrows) != "" {
			return nil
		}
	}
	if req.Method != http.MethodGet || !wantsEncoded(req) {
		return nil
	}
	switch p := strings.Split(strings.TrimPrefix(path.Clean(req.URL.Path), "/"), "/"); {
	case len(p) == 3 && p[0] == "api":
		return r.lists[schema.GroupResource{Resource: p[2]}]
	case len(p) == 4 && p[0] == "apis":
		return r.lists[schema.GroupResource{Group: p[1], Resource: p[3]}]
	}
	return nil
}

func (l *refreshedList) answer(token string) answer {
	at, ok := begin(token, len(l.pages))
	if !ok {
		return badToken()
	}
	items, err := l.page(at)
	if err != nil {
		return unknown(damaged(err))
	}
	return encoded(l.version, nextPage(at, len(l.pages)+1), items)
}
