package collect_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// ours is the loop.
type ours struct {
	config      *rest.Config
	proxy       *faultproxy.Proxy // before the server, if a scenario has asked for it
	terms       plan.Overrides
	definitions []collect.CRD

	mu      sync.Mutex
	refused []plan.Event
	summary *collect.Result // of the last run
	writes  int             // of the last run
}

func (l *ours) observe(*stage) {}

// settle runs the loop.
func (l *ours) settle(s *stage, want []expectation) {
	s.Helper()
	l.run(s)
	for _, e := range l.refused {
		s.Errorf("%s of %s %s: %v", e.Action.Verb, e.Action.Object.Kind, e.Action.Object.Name, e.Err)
	}
	l.check(s, want)
}

// rests expects that a loop which begins now finds nothing to write (RO-042).
func (l *ours) rests(s *stage) {
	s.Helper()
	if l.run(s); l.writes > 0 {
		s.Errorf("one more run wrote %d times", l.writes)
	}
}

func (l *ours) check(s *stage, want []expectation) {
	s.Helper()
	wrong, err := unmet(s.Context(), want)
	if err != nil {
		s.Fatal(err)
	}
	if wrong != "" {
		s.Error(wrong)
	}
}

// run runs the loop until it has nothing left to do.
func (l *ours) run(s *stage) {
	s.Helper()
	if err := l.try(s); err != nil {
		s.Fatal(err)
	}
}

func (l *ours) try(s *stage) error {
	s.Helper()
	config := l.config
	if l.proxy != nil {
		config = l.proxy.Config()
	}
	client, err := cluster.New(config, 0)
	if err != nil {
		s.Fatal(err)
	}
	l.refused, l.writes = nil, 0
	may := func(g *graph.Graph, id graph.ID) bool {
		r := g.Ref(id)
		return strings.HasPrefix(r.Namespace, s.ns) || r.Namespace == "" && strings.HasPrefix(r.Name, s.ns)
	}
	l.summary, err = collect.New(client,
		collect.Options{Allow: may, AllowOwnerLoss: true, Agree: collect.AgreeToAll, Overrides: l.terms, CRDs: l.definitions,
			OnEvent: func(e plan.Event) {
				l.mu.Lock()
				defer l.mu.Unlock()
				if e.Err != nil {
					l.refused = append(l.refused, e)
				} else {
					l.writes++
				}
			}}).Run(s.Context())
	return err
}

// faults puts a proxy before the server.
func (l *ours) faults(s *stage) *faultproxy.Proxy {
	s.Helper()
	if l.proxy == nil {
		l.proxy = faultproxy.Start(s.T, l.config)
	}
	return l.proxy
}

// requests are those about single objects of the stage so far, each a method and where it went.
func (l *ours) requests(s *stage) []string {
	var requests []string
	for _, r := range l.proxy.Requests() {
		if strings.Contains(r.Path, "/"+s.ns) {
			requests = append(requests, r.Method+" "+r.Path[strings.Index(r.Path, "/"+s.ns)+1:])
		}
	}
	return requests
}

// left says why an object was left by the last run, empty if that does not count it among what is
// left.
func (l *ours) left(o *object) plan.ReasonCode {
	for _, left := range l.summary.NotDeleted {
		if l.summary.Graph.Ref(left.Object).UID == string(o.GetUID()) {
			return left.Because.Code
		}
	}
	return ""
}

// deletes matches the deletion of an object, and patches its change.
func deletes(o *object) func(*http.Request) bool { return asks(http.MethodDelete, o) }
func patches(o *object) func(*http.Request) bool { return asks(http.MethodPatch, o) }

func asks(method string, o *object) func(*http.Request) bool {
	path := "/" + scenarioTypes[o.GetKind()].Resource + "/" + o.GetName()
	if o.GetNamespace() != "" {
		path = "/namespaces/" + o.GetNamespace() + path
	}
	return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, path) }
}

// lists matches the listing of a type.
func lists(resource string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+resource) && r.URL.Query().Has("limit")
	}
}

// after has a proxy answer the first listing of a type only when another has been answered.
func after(p *faultproxy.Proxy, first, then string) {
	done := make(chan struct{})
	var once sync.Once
	p.On(lists(first), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		once.Do(func() { close(done) })
	})
	p.On(lists(then), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-done:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// theirs is the real collector.
type theirs struct{}

// observe waits until the collector has collected something of each type that the stage has: it has
// then heard of all that came before.
func (theirs) observe(s *stage) {
	s.Helper()
	s.mu.Lock()
	kinds := s.kinds
	s.mu.Unlock()
	for _, kind := range kinds {
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "nobody", UID: types.UID(s.ns + "-absent")}
		o := s.draft(kind, "", by(owner))
		o.SetName("")
		o.SetGenerateName(strings.TrimLeft(s.ns[max(0, len(s.ns)-20):], "-") + "-canary-")
		client := s.resource(kind, s.ns)
		canary, err := client.Create(s.Context(), o, metav1.CreateOptions{})
		if err != nil {
			s.Fatal(err)
		}
		testcluster.Eventually(s, "the collector has collected a canary", func(ctx context.Context) (bool, error) {
			now, err := s.now(ctx, canary)
			return now == nil || now.GetDeletionTimestamp() != nil, err
		})
		if scenarioTypes[kind].Namespaced {
			continue
		}
		s.discard(canary)
	}
}

// settle waits until all expectations hold, and then until the collector has done what it may have
// been about to do.
func (c theirs) settle(s *stage, want []expectation) {
	s.Helper()
	wrong := ""
	defer func() {
		if s.Failed() {
			s.Log(wrong)
		}
	}()
	testcluster.Eventually(s, "it is as expected", func(ctx context.Context) (ok bool, err error) {
		wrong, err = unmet(ctx, want)
		return wrong == "", err
	})
	for range 2 {
		c.observe(s)
	}
	var err error
	if wrong, err = unmet(s.Context(), want); wrong != "" || err != nil {
		s.Errorf("it did not stay as expected: %v", err)
	}
}

// hides leaves objects out of the listing of their type.
func hides(l *ours, s *stage, resource string, objects ...*object) {
	p := l.faults(s)
	p.On(lists(resource), faultproxy.Edit(func(v any) any {
		list := v.(map[string]any)
		items, _ := list["items"].([]any)
		list["items"] = slices.DeleteFunc(items, func(item any) bool {
			uid := item.(map[string]any)["metadata"].(map[string]any)["uid"]
			return slices.ContainsFunc(objects, func(o *object) bool { return uid == string(o.GetUID()) })
		})
		return list
	}))
}
