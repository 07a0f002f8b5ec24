package cluster

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ListOptions say what to list. Cluster-scoped types are always listed.
type ListOptions struct {
	// Types says which types to list; nil are those that the collector watches. Definitions and
	// APIServices are listed in any case: they tell of types that discovery does not show.
	Types func(Resource) bool
	// Namespace restricts the namespaced types; empty lists them everywhere.
	Namespace string
	// Fallback are namespaces to look into where a type may not be listed everywhere and the
	// namespaces may not be listed either.
	Fallback []string
	// Selector marks the objects whose labels match it; it leaves none out. Nil marks none and
	// reads no labels.
	Selector labels.Selector
	// Annotations are the keys of the annotations that the graph keeps; of others nothing is kept.
	Annotations []string
	// Saver, if not nil, takes the pages in the place of the builder, which stays empty.
	Saver PageSaver
	// Progress, if not nil, is called now and then, from several goroutines, one at a time.
	Progress func(Progress)
}

// Progress is how far a listing has come.
type Progress struct{ TypesDone, Types, Objects int }

// ListResult is what a listing says of itself.
type ListResult struct {
	// Gaps are what could not be seen, sorted.
	Gaps []v1alpha1.Gap
	// ResumePoints are where the complete lists ended.
	ResumePoints []ResumePoint
}

// reportEvery is after how many objects of a page progress is reported.
const reportEvery = 1000

// maxRestarts is how often a list that expired is begun again before it counts as unavailable.
const maxRestarts = 4

// List adds the metadata of all deletable objects to the builder. What it cannot see is a gap in
// what it returns; it ends early only for an error that would meet every request.
func (c *Client) List(ctx context.Context, cat *Catalog, opts ListOptions, b *graph.Builder) (*ListResult, error) {
	l := newLister(c, cat, opts, b)
	if err := l.list(ctx); err != nil {
		return nil, err
	}
	return l.sorted(), nil
}

func newLister(c *Client, cat *Catalog, opts ListOptions, b *graph.Builder) *lister {
	return &lister{client: c, cat: cat, opts: opts, builder: b, slots: make(chan struct{}, c.concurrency)}
}

// list lists all that the catalog has and the options ask for, and what is defined besides.
func (l *lister) list(ctx context.Context) error {
	l.result.Gaps = append(l.result.Gaps, l.client.explainFailedGroups(ctx, l.cat)...)
	for _, r := range l.cat.Resources {
		l.builder.Serve(r.Type, r.OtherVersions...)
		if l.wants(r) || DefinesTypes(r.Type) {
			l.resources = append(l.resources, r)
		}
	}
	if err := l.all(ctx, l.resources); err != nil {
		return err
	}
	return l.hidden(ctx)
}

// sorted returns the result with its gaps in order.
func (l *lister) sorted() *ListResult {
	slices.SortFunc(l.result.Gaps, func(x, y v1alpha1.Gap) int {
		return strings.Compare(gapKey(x), gapKey(y))
	})
	return &l.result
}

func (l *lister) wants(r Resource) bool {
	if l.opts.Types != nil {
		return l.opts.Types(r)
	}
	return r.Deletable()
}

func gapKey(g v1alpha1.Gap) string {
	return strings.Join([]string{g.Group, g.Resource, g.Namespace, g.Message}, "\x00")
}

type lister struct {
	client    *Client
	cat       *Catalog
	opts      ListOptions
	builder   *graph.Builder
	resources []Resource
	slots     chan struct{} // one for each request in flight
	// which holds what is listed, and adds it to the builder; nil for a listing that is not
	// followed
	store *Store

	mu          sync.Mutex
	progress    Progress
	result      ListResult
	typeSources typeSources
	namespaces  namespaceList
}

// all lists the given types side by side.
func (l *lister) all(ctx context.Context, resources []Resource) error {
	l.mu.Lock()
	l.progress.Types += len(resources)
	l.mu.Unlock()
	return EachUntil(ctx, l.client, resources, func(ctx context.Context, _ int, r Resource) error {
		return l.resource(ctx, r)
	})
}

// resource lists one type in the scope that was asked for.
func (l *lister) resource(ctx context.Context, r Resource) error {
	defer l.report(func(p *Progress) { p.TypesDone++ })
	namespace := r.Place(l.opts.Namespace)
	err := l.once(ctx, r, namespace)
	if err != nil && r.Namespaced && namespace == "" && apierrors.IsForbidden(err) {
		return l.byNamespace(ctx, r, err)
	}
	if r.Namespaced && namespace == "" && l.client.IsStill() && IsNotSaved(err) {
		for _, covered := range l.client.still.Covers(r.Type) { // all of which was among what was listed
			l.builder.Listing(r.Type, covered).Complete()
		}
	}
	if l.client.undefined(ctx, l.cat, r.Type, err) {
		if l.opts.Saver != nil {
			_, complete := l.begin(r.Type, namespace)
			complete(ResumePoint{Type: r.Type, Namespace: namespace})
			return nil
		}
		l.builder.Listing(r.Type, namespace).Complete()
		return nil
	}
	return l.note(ctx, r.Type, namespace, err)
}

// note keeps the gap that an error makes and returns an error that ends the listing.
func (l *lister) note(ctx context.Context, t graph.Type, namespace string, err error) error {
	if err == nil {
		return nil
	}
	gap, err := newGap(ctx, t, namespace, err)
	if err != nil {
		return err
	}
	l.gap(gap)
	return nil
}

func (l *lister) gap(g v1alpha1.Gap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Gaps = append(l.result.Gaps, g)
}

func (l *lister) report(change func(*Progress)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.progress)
	if l.opts.Progress != nil {
		l.opts.Progress(l.progress)
	}
}

// once lists a type unless a store holds it.
func (l *lister) once(ctx context.Context, r Resource, namespace string) error {
	if l.store == nil {
		return l.anyVersion(ctx, r, namespace)
	}
	held, err := l.store.has(r, namespace)
	if held || err != nil {
		return err
	}
	err = l.anyVersion(ctx, r, namespace)
	l.store.tried(r.Type, namespace, err)
	return err
}

// anyVersion lists a type in its preferred version or, if the server fails at that, in another: a
// dead conversion webhook only matters to objects that were stored in another version than the one
// asked for.
func (l *lister) anyVersion(ctx context.Context, r Resource, namespace string) error {
	err := l.whole(ctx, r, namespace)
	if !IsServerError(err) {
		return err
	}
	for _, version := range r.OtherVersions {
		other := r
		other.Version = version
		if l.whole(ctx, other, namespace) == nil {
			return nil
		}
	}
	return err
}

// IsServerError reports whether an error is an answer of the API server that it fails itself: with
// 500, whatever reason it gives.
func IsServerError(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError
}

// restarting lists, and again when the list expires before its end (410).
func restarting[T any](list func() (T, error)) (T, error) {
	for restarts := 0; ; restarts++ {
		listed, err := list()
		if !apierrors.IsResourceExpired(err) || restarts == maxRestarts {
			return listed, err
		}
	}
}

// whole lists a type, and begins again when the list expires before its end: pages of different
// snapshots do not make one list. Of a list whose type is not served any more before its end (404)
// nothing is kept.
func (l *lister) whole(ctx context.Context, r Resource, namespace string) error {
	_, err := restarting(func() (string, error) {
		listing, complete := l.begin(r.Type, namespace)
		version, err := l.pages(ctx, r, namespace, listing)
		switch {
		case err == nil:
			complete(ResumePoint{r.Type, namespace, version})
		case apierrors.IsResourceExpired(err), apierrors.IsNotFound(err):
			listing.Discard()
		}
		return version, err
	})
	return err
}

// begin returns where a list is to be added, and what to call when it is complete.
func (l *lister) begin(t graph.Type, namespace string) (collector, func(ResumePoint)) {
	if l.store != nil {
		listing := l.store.listing(&followed{})
		return listing, listing.hold
	}
	var listing collector = saved{l.opts.Saver, t, namespace}
	complete := func() {}
	if l.opts.Saver == nil {
		into := l.builder.Listing(t, namespace)
		listing, complete = into, into.Complete
	}
	return listing, func(p ResumePoint) {
		complete()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.result.ResumePoints = append(l.result.ResumePoints, p)
	}
}

// pages reads a list to its end and returns its resourceVersion. Of types that are listed side by side
// no more pages are read at once than the client sends requests.
func (l *lister) pages(ctx context.Context, r Resource, namespace string, listing collector) (string, error) {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	save, _ := listing.(saved)
	observe := l.typeSources.observer(r.Type)
	objects := 0
	defer func() { l.report(func(p *Progress) { p.Objects += objects }) }()
	return l.client.readAll(ctx, page{path: resourcePath(r.Type, namespace),
		keep: extras{l.opts.Selector, l.opts.Annotations}, view: !slices.Contains(r.Verbs, "watch"), save: save,
	}, func(o *graph.Object) {
		listing.Add(*o)
		if observe != nil {
			observe(o.Name)
		}
		if objects++; objects == reportEvery {
			l.report(func(p *Progress) { p.Objects += reportEvery })
			objects = 0
		}
	})
}

// namespaceList is the namespaces of the cluster, read once and only if some type needs them.
type namespaceList struct {
	once  sync.Once
	names []string
	// complete is false when the namespaces could not be listed and names are those that the user
	// gave.
	complete bool
	err      error
}

// byNamespace lists a type that may not be listed everywhere namespace by namespace. Each namespace
// that is forbidden is a gap, and so is all the rest if the namespaces themselves could not be
// listed.
func (l *lister) byNamespace(ctx context.Context, r Resource, forbidden error) error {
	n := &l.namespaces
	n.once.Do(func() { l.readNamespaces(ctx, n) })
	if n.err != nil {
		return n.err
	}
	if !n.complete {
		if err := l.note(ctx, r.Type, "", forbidden); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, l.client.concurrency/4)) // several types come here side by side
	for _, namespace := range n.names {
		group.Go(func() error {
			return l.note(ctx, r.Type, namespace, l.once(ctx, r, namespace))
		})
	}
	return group.Wait()
}

func (l *lister) readNamespaces(ctx context.Context, n *namespaceList) {
	if l.store != nil {
		if names, held := l.store.names("", "namespaces"); held {
			n.names, n.complete = names, true
			return
		}
	}
	names, err := l.client.ListNames(ctx, NamespaceType, "")
	if err == nil {
		n.names, n.complete = names, true
		return
	}
	if _, fatal := newGap(ctx, graph.Type{}, "", err); fatal != nil {
		n.err = fatal
		return
	}
	n.names = l.opts.Fallback
}

// ListNames lists the names of a type's objects, in a namespace or everywhere.
func (c *Client) ListNames(ctx context.Context, t graph.Type, namespace string) ([]string, error) {
	var names []string
	_, err := c.ForEachMeta(ctx, t, namespace, func(o *graph.Object) { names = append(names, o.Name) })
	return names, err
}

// ForEachMeta calls f with the metadata of each object of a type, in a namespace or everywhere,
// valid during the call. It returns where the list ended.
func (c *Client) ForEachMeta(ctx context.Context, t graph.Type, namespace string, f func(*graph.Object)) (ResumePoint,
	error) {
	return c.forEach(ctx, t, namespace, extras{}, f)
}

func (c *Client) forEach(ctx context.Context, t graph.Type, namespace string, keep extras,
	f func(*graph.Object)) (ResumePoint, error) {
	version, err := c.readAll(ctx,
		page{path: resourcePath(t, namespace), keep: keep}, f)
	if err != nil {
		version = ""
	}
	return ResumePoint{Type: t, Namespace: namespace, ResourceVersion: version}, err
}
