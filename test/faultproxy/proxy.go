package faultproxy

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Fault answers a request in place of the server. Next passes it on.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Request is what was recorded of one request.
type Request struct {
	Method, Path string
	Query        url.Values
	Header       http.Header
	// Body is that of a request other than a GET.
	Body []byte
}

// Proxy is a recording reverse proxy on a loopback address. It is safe for concurrent use.
type Proxy struct {
	server *httptest.Server
	config *rest.Config

	mu       sync.Mutex
	rules    []rule
	requests []Request
	inFlight map[string]int
	most     map[string]int
}

type rule struct {
	matches func(*http.Request) bool
	fault   Fault
}

// Start returns a proxy in front of the server of a configuration, with its credentials, until the
// end of the test. Clients of the proxy need none; their impersonation is passed on.
func Start(t testing.TB, config *rest.Config) *Proxy {
	t.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatalf("transport to the server: %v", err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatalf("address of the server: %v", err)
	}
	reverse := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches
		// Without its length an answer ends for the client when this has counted it as ended, and
		// not before.
		ModifyResponse: func(r *http.Response) error { r.Header.Del("Content-Length"); r.ContentLength = -1; return nil },
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p := &Proxy{inFlight: map[string]int{}, most: map[string]int{}}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.serve(w, r, reverse)
	}))
	t.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
	})
	p.config = &rest.Config{Host: p.server.URL, QPS: -1}
	return p
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	kind := "read"
	var body []byte
	if r.Method != http.MethodGet {
		kind = "write"
		body, _ = io.ReadAll(r.Body) // one that breaks off is the server's to refuse
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	p.mu.Lock()
	p.requests = append(p.requests,
		Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body})
	p.inFlight[kind]++
	p.most[kind] = max(p.most[kind], p.inFlight[kind])
	rules := p.rules
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.inFlight[kind]--
		p.mu.Unlock()
	}()
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(r) {
			rules[i].fault(w, r, next)
			return
		}
	}
	next.ServeHTTP(w, r)
}

// Cut breaks all connections of clients, as a server does that goes away. They may connect again.
func (p *Proxy) Cut() { p.server.CloseClientConnections() }

// Watches matches watches of a path that ends so.
func Watches(suffix string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.URL.Query().Get("watch") == "true" && strings.HasSuffix(r.URL.Path, suffix)
	}
}

// On answers the requests that match with a fault. Of several rules that match, the last one
// counts.
func (p *Proxy) On(matches func(*http.Request) bool, fault Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules[:len(p.rules):len(p.rules)], rule{matches, fault})
}

// Path matches requests for a path that ends so.
func Path(suffix string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, suffix) }
}

// Config returns a client configuration for the proxy.
func (p *Proxy) Config() *rest.Config { return rest.CopyConfig(p.config) }

// Kubeconfig writes a kubeconfig for the proxy and returns its path.
func (p *Proxy) Kubeconfig(t testing.TB) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: p.server.URL}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	path := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("writing a kubeconfig for the proxy: %v", err)
	}
	return path
}

// Requests returns what was asked so far.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Request(nil), p.requests...)
}

// Count returns how many requests of a method were sent so far whose path contains a text.
func (p *Proxy) Count(method, part string) int {
	n := 0
	for _, r := range p.Requests() {
		if r.Method == method && strings.Contains(r.Path, part) {
			n++
		}
	}
	return n
}

// MostReads returns how many GETs were in flight at the same time at most.
func (p *Proxy) MostReads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most["read"]
}

// MostWrites returns how many requests other than GETs were in flight at the same time at most.
func (p *Proxy) MostWrites() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most["write"]
}
