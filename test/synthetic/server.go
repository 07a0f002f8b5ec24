package synthetic

import (
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Server serves the objects of a Shape until it is closed. It is safe for concurrent use.
type Server struct {
	world  *world
	server *httptest.Server
	kinds  map[string]*kind // by path of their lists in all namespaces
	groups map[string][]byte
	// Stats are what was asked of it since it was started, or since Reset.
	requests, bytes, inFlight, most atomic.Int64
}

// Start returns a server on a loopback address, with HTTP/2 over TLS.
func Start(s Shape) *Server {
	w := newWorld(s)
	server := &Server{world: w, kinds: map[string]*kind{}}
	for _, k := range w.kinds {
		server.kinds[k.path()] = k
	}
	server.groups = w.discovery()
	server.server = httptest.NewUnstartedServer(server)
	server.server.EnableHTTP2 = true
	server.server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that close a connection
	server.server.StartTLS()
	return server
}

// Close ends the server and its connections.
func (s *Server) Close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// Address is where the server listens.
func (s *Server) Address() string { return s.server.Listener.Addr().String() }

// Config returns a configuration for clients.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: s.server.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: s.certificate()}}
}

func (s *Server) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
}

// WriteKubeconfig writes a kubeconfig that leads to the server.
func (s *Server) WriteKubeconfig(path string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["synthetic"] = &clientcmdapi.Cluster{Server: s.server.URL, CertificateAuthorityData: s.certificate()}
	config.Contexts["synthetic"] = &clientcmdapi.Context{Cluster: "synthetic"}
	config.CurrentContext = "synthetic"
	return clientcmd.WriteToFile(*config, path)
}

// Stats are what was asked of a server.
type Stats struct {
	// Requests is how many there were, and Bytes how many bytes answered them, as they went over
	// the connection.
	Requests, Bytes int64
	// InFlight is how many requests there were at the same time at most.
	InFlight int64
}

// Reset returns what was asked since the last time.
func (s *Server) Reset() Stats {
	return Stats{Requests: s.requests.Swap(0), Bytes: s.bytes.Swap(0), InFlight: s.most.Swap(0)}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	now := s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	s.answer(&counter{w, &s.bytes}, r)
}

// counter counts the bytes of answers.
type counter struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes.Add(int64(n))
	return n, err
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	if document, ok := s.groups[path]; ok {
		w.Header().Set("Content-Type", discoveryType)
		_, _ = w.Write(document)
		return
	}
	if path == "/version" {
		writeJSON(w, http.StatusOK, `{"major":"1","minor":"37","gitVersion":"v1.37.2"}`)
		return
	}
	if r.Method == http.MethodPost {
		review(w, r)
		return
	}
	k, namespace, name, ok := s.resolve(path)
	switch {
	case !ok || r.Method != http.MethodGet:
		status(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", "")
	case r.URL.Query().Get("watch") == "true":
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case name != "":
		s.object(w, r, k, namespace, name)
	default:
		s.list(w, r, k, namespace)
	}
}

func (k *kind) path() string {
	if k.group == "" {
		return "/api/" + k.version + "/" + k.resource
	}
	return "/apis/" + k.apiVersion() + "/" + k.resource
}

// resolve returns what a path names.
func (s *Server) resolve(path string) (k *kind, namespace, name string, ok bool) {
	parts := strings.Split(path, "/")
	n := 3 // of "", "api", the version
	if len(parts) > 1 && parts[1] == "apis" {
		n++
	}
	if len(parts) > n+2 && parts[n] == "namespaces" {
		namespace = parts[n+1]
		parts = append(parts[:n:n], parts[n+2:]...)
	}
	if len(parts) < n+1 || len(parts) > n+2 {
		return nil, "", "", false
	}
	if len(parts) == n+2 {
		name = parts[n+1]
	}
	k = s.kinds[strings.Join(parts[:n+1], "/")]
	return k, namespace, name, k != nil && k.only == nil
}

// object answers a read of one object.
func (s *Server) object(w http.ResponseWriter, r *http.Request, k *kind, namespace, name string) {
	i, found := k.find(name)
	if found && k.namespaced {
		found = namespace == s.world.namespaces.name(k.namespaceOf(i))
	}
	if !found {
		what := k.resource
		if k.group != "" {
			what += "." + k.group
		}
		status(w, http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", what, name),
			fmt.Sprintf(`{"name":%q,"group":%q,"kind":%q}`, name, k.group, k.resource))
		return
	}
	accept := r.Header.Get("Accept")
	e := &encoder{world: s.world}
	w.Header().Set("Content-Type", "application/json")
	if strings.Contains(accept, "as=Table") {
		_, _ = fmt.Fprintf(
			w, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":%q},"columnDefinitions":%s,"rows":[%s]}`, version, k.columns(), k.row(nil, i))
		return
	}
	_, _ = w.Write(e.json(nil, k, i, strings.Contains(accept, "as=PartialObjectMetadata")))
}

// review allows everything, and says who asks.
func review(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Kind, APIVersion string
		Spec             json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || !strings.HasSuffix(r.URL.Path, "reviews") {
		status(w, http.StatusMethodNotAllowed, "MethodNotAllowed", "nothing can be written to this server", "")
		return
	}
	answer := map[string]string{
		"SelfSubjectReview":      `{"userInfo":{"username":"somebody"}}`,
		"SelfSubjectRulesReview": `{"incomplete":false,"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}],"nonResourceRules":[]}`,
	}[asked.Kind]
	if answer == "" {
		answer = `{"allowed":true}`
	}
	if asked.Spec == nil {
		asked.Spec = json.RawMessage("{}")
	}
	writeJSON(w, http.StatusCreated,
		fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{},"spec":%s,"status":%s}`, asked.Kind, asked.APIVersion,
			asked.Spec, answer))
}

// status answers with a Status. Details are JSON; empty for none.
func status(w http.ResponseWriter, code int, reason, message, details string) {
	if details == "" {
		details = "{}"
	}
	writeJSON(w, code, fmt.Sprintf(
		`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"details":%s,"code":%d}`, message, reason, details, code))
}

func writeJSON(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}

// compressed returns where to write a large answer: a kube-apiserver compresses it, at gzip's first
// level, for those who accept that.
func compressed(w http.ResponseWriter, r *http.Request) (io.Writer, func() error) {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return w, func() error { return nil }
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	zip, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // which is a level
	return zip, zip.Close
}
