package cluster

import (
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
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
type Still interface{ AsOf() time.Time }

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
// empty.
func resourcePath(group, version, resource, namespace string) []string {
	path := []string{"/apis", group, version}
	if group == "" {
		path = []string{"/api", version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, resource)
}
