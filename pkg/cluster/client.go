package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// DefaultConcurrency is how many list requests are in flight at most unless told otherwise. A
// server's priority and fairness queues what is too much for it; this only keeps the queue short.
const DefaultConcurrency = 64

// Client talks to one API server. It is safe for concurrent use.
type Client struct {
	config        *rest.Config
	rest          rest.Interface
	onceDiscovery *onceDiscovery
	discovery     discovery.CachedDiscoveryInterface // asked, behind a cache
	concurrency   int
	pages         *answered[pageSizes] // which suit the server's version
	pageSize      int                  // objects in one answer to a list, if that is not left to pages
	// versionWithin is how long the server may take to tell its version; 0 is versionPatience.
	versionWithin time.Duration
	// pollInterval is how often a type is listed that may not be watched; 0 is DefaultPollInterval.
	pollInterval time.Duration
	clock        *serverClock
	timeouts     *timeouts
	// guard is asked before each DELETE with dryRun=All.
	guard   Guard
	dryRuns *dryRuns
	// still is the time of a dump; nil for a cluster.
	still Still
}

// Still is the transport of what is read in the place of a cluster: nothing in it moves, nothing
// can be written to it, and its clock stands.
type Still interface {
	// AsOf returns at what time, and whether that is known: it may be later than what is read.
	AsOf() (at time.Time, known bool)
	// Covers returns the namespaces of which it has all objects of a type that it does not have all of.
	Covers(graph.Type) []string
}

// IsStill returns whether the client reads a dump, and no cluster.
func (c *Client) IsStill() bool { return c.still != nil }

// New returns a Client for a configuration, which it does not change. Concurrency below 1 means
// DefaultConcurrency. It sends nothing.
func New(config *rest.Config, concurrency int) (*Client, error) {
	config = rest.CopyConfig(config)
	// Client-side throttling protected servers without priority and fairness; here it would only be
	// waiting.
	config.QPS = -1
	clock := &serverClock{}
	config.Wrap(clock.wrap)
	timeouts := newTimeouts(config)
	config.Wrap(timeouts.wrap)
	ChooseCompression(config)
	if concurrency < 1 {
		concurrency = DefaultConcurrency
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	disc, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, err
	}
	restClient, err := newRESTClient(config, httpClient)
	if err != nil {
		return nil, err
	}
	c := &Client{config: config, rest: restClient, concurrency: concurrency, pages: &answered[pageSizes]{}, clock: clock,
		timeouts: timeouts,
		dryRuns:  &dryRuns{sent: map[DryRun]bool{}}}
	c.still, _ = config.Transport.(Still)
	c.ask(disc)
	return c, nil
}

func (c *Client) ask(disc *discovery.DiscoveryClient) {
	c.onceDiscovery = &onceDiscovery{DiscoveryClient: disc}
	c.discovery = memory.NewMemCacheClient(c.onceDiscovery)
}

// WithFreshDiscovery returns a Client that shares the connections of this one and asks discovery
// again: types come and go.
func (c *Client) WithFreshDiscovery() *Client {
	anew := *c
	anew.ask(c.onceDiscovery.DiscoveryClient)
	return &anew
}

// Concurrency returns how many requests may be in flight at most.
func (c *Client) Concurrency() int { return c.concurrency }

// newRESTClient returns a client for any path, which knows how to read an error and nothing else:
// lists are decoded here, and importing the scheme of all built-in types would cost every start of
// the program.
func newRESTClient(config *rest.Config, httpClient *http.Client) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config = rest.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("configuring the client for %s: %w", config.Host, err)
	}
	return client, nil
}

// Discovery returns the discovery that this client uses: asked once and kept for the life of the
// process, never on disk. A type that was installed a minute ago has to be seen.
func (c *Client) Discovery() discovery.CachedDiscoveryInterface { return c.discovery }

// resourcePath returns the path segments of a type in a namespace, or of all of it if namespace is
// empty; of one object with its name, and perhaps a subresource.
func resourcePath(t graph.Type, namespace string, object ...string) []string {
	path := []string{"/apis", t.Group, t.Version}
	if t.Group == "" {
		path = []string{"/api", t.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(append(path, t.Resource), object...)
}

// Identity returns the uid of the namespace kube-system, by which a cluster is known from others:
// it is made once and cannot be deleted. It is empty if it cannot be read. The error is that ctx
// has ended.
func (c *Client) Identity(ctx context.Context) (string, error) {
	system, err := c.GetMeta(ctx, NamespaceType, "", "kube-system")
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", nil
	}
	return system.UID, nil
}

// WhoAmI asks the server as whom it knows the user, with a SelfSubjectReview, which stores nothing.
// Servers before 1.28 do not serve it.
func (c *Client) WhoAmI(ctx context.Context) (string, error) {
	of := graph.Type{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews",
		Kind: "SelfSubjectReview"}
	var answer struct {
		Kind   string
		Status struct{ UserInfo struct{ Username string } }
	}
	question := metav1.TypeMeta{APIVersion: of.APIVersion(), Kind: of.Kind}
	if err := c.post(ctx, of, "", question, &answer); err != nil {
		return "", err
	}
	if answer.Kind != of.Kind || answer.Status.UserInfo.Username == "" {
		return "", errors.New("asking the server for the name of the user: the answer has none")
	}
	return answer.Status.UserInfo.Username, nil
}

// errImpersonates is for a client that asks as somebody else already: whether the one may
// impersonate the other is not the same question as whether the user may.
var errImpersonates = errors.New("the client impersonates somebody already")

// As returns a Client that asks as a ServiceAccount, whose groups the server adds. Each request is
// refused unless the user may impersonate it. It is for dry runs: nothing that is performed may be
// done with the rights of somebody else.
func (c *Client) As(account ServiceAccount) (*Client, error) {
	if c.config.Impersonate.UserName != "" {
		return nil, errImpersonates
	}
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: account.User()}
	as, err := New(config, c.concurrency)
	if err != nil {
		return nil, err
	}
	as.guard, as.dryRuns = c.guard, c.dryRuns
	return as, nil
}

// quietWarnings logs what a server warns of, for requests that nobody typed: all types are listed,
// and that some of them are deprecated is no news to who asked for a tree.
type quietWarnings struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (quietWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	if code == 299 && text != "" {
		klog.FromContext(ctx).V(2).Info("Server warning", "text", text)
	}
}

// Each calls do with each of some items and its place among them, as many calls at once as the
// client sends requests, and returns when all of them have.
func Each[T any](c *Client, items []T, do func(i int, item T)) {
	var group errgroup.Group
	group.SetLimit(c.concurrency)
	for i, item := range items {
		group.Go(func() error {
			do(i, item)
			return nil
		})
	}
	_ = group.Wait() // no call returns an error
}

// EachUntil is Each for calls that can fail. The first error ends the context of the others, and is
// returned.
func EachUntil[T any](ctx context.Context, c *Client, items []T,
	do func(ctx context.Context, i int, item T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.concurrency)
	for i, item := range items {
		group.Go(func() error { return do(ctx, i, item) })
	}
	return group.Wait()
}

// answered remembers an answer that one caller asked for and all others use.
type answered[T any] struct {
	mu     sync.Mutex
	answer *T
}

// once returns the answer, which ask gets from the server if nobody has asked. Whoever gives up
// while asking does not take the answer along: what ask returned when ctx has ended is not
// remembered, and the next caller asks again.
func (a *answered[T]) once(ctx context.Context, ask func() T) T {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer != nil {
		return *a.answer
	}
	answer := ask()
	if ctx.Err() == nil {
		a.answer = &answer
	}
	return answer
}

// Asked remembers answers, errors too, by what was asked. Its zero value is ready to use, by several
// goroutines at a time.
type Asked[K comparable, T any] struct {
	mu      sync.Mutex
	answers map[K]*answered[result[T]]
}

type result[T any] struct {
	value T
	err   error
}

// Once returns the answer about a key, which ask gets if nobody has asked. Whoever gives up while
// asking does not take the answer along: what ask returned when ctx has ended is not remembered.
func (a *Asked[K, T]) Once(ctx context.Context, key K, ask func() (T, error)) (T, error) {
	a.mu.Lock()
	if a.answers == nil {
		a.answers = map[K]*answered[result[T]]{}
	}
	of := a.answers[key]
	if of == nil {
		of = &answered[result[T]]{}
		a.answers[key] = of
	}
	a.mu.Unlock()
	got := of.once(ctx, func() result[T] {
		value, err := ask()
		return result[T]{value, err}
	})
	return got.value, got.err
}
