package garbagecollector

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/kubernetes/test/utils/ktesting"
)

// proxy is between the process and the API server. It sends the requests on by the transport of the
// test, which may have been made to delay them.
type proxy struct {
	kubeconfig string // of a client of the proxy

	mu      sync.Mutex
	watched map[schema.GroupVersionResource]int // the watches that are open
}

// startProxy starts a proxy, which ends with the test.
func startProxy(test ktesting.TContext, config *rest.Config) (*proxy, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	p := &proxy{kubeconfig: filepath.Join(test.TempDir(), "kubeconfig"), watched: map[schema.GroupVersionResource]int{}}
	forward := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:      transport,
		FlushInterval:  -1, // an event may be the last for long
		ModifyResponse: p.answered,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(forward)
	test.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	content := api.NewConfig()
	content.Clusters["proxy"] = &api.Cluster{Server: server.URL}
	content.Contexts["proxy"] = &api.Context{Cluster: "proxy"}
	content.CurrentContext = "proxy"
	return p, clientcmd.WriteToFile(*content, p.kubeconfig)
}

// answered counts a watch that the server has opened, until the client or the server ends it.
func (p *proxy) answered(r *http.Response) error {
	if r.StatusCode != http.StatusOK || r.Request.URL.Query().Get("watch") != "true" {
		return nil
	}
	at := typeOf(r.Request.URL.Path)
	p.count(at, 1)
	go func() {
		<-r.Request.Context().Done()
		p.count(at, -1)
	}()
	return nil
}

func (p *proxy) count(at schema.GroupVersionResource, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched[at] += by
}

// watches reports whether a watch of all objects of a type is open.
func (p *proxy) watches(t schema.GroupVersionResource) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.watched[t] > 0
}

// typeOf returns the type of a path that lists everywhere: /api/VERSION/RESOURCE or
// /apis/GROUP/VERSION/RESOURCE. It is empty for another path.
func typeOf(path string) schema.GroupVersionResource {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) == 3 && parts[0] == "api":
		return schema.GroupVersionResource{Version: parts[1], Resource: parts[2]}
	case len(parts) == 4 && parts[0] == "apis":
		return schema.GroupVersionResource{Group: parts[1], Version: parts[2], Resource: parts[3]}
	}
	return schema.GroupVersionResource{}
}
