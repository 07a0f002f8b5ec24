package collect

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// hold is a finalizer that nobody removes.
const hold = "example.com/hold"

// fixture is a namespace of config maps.
type fixture struct {
	t         testing.TB
	namespace string
	client    kubernetes.Interface
	uids      map[string]types.UID
}

func newFixture(t testing.TB, c *testcluster.Cluster) *fixture {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, namespace: c.Namespace(t), client: client, uids: map[string]types.UID{}}
}

// make makes config maps, one for each line: "name", or "name < owner owner+ ... | finalizer ...",
// where + is for one that it blocks, and an owner that was not made is gone.
func (s *fixture) make(lines ...string) {
	s.t.Helper()
	for _, line := range lines {
		line, finalizers, _ := strings.Cut(line, "|")
		name, owners, _ := strings.Cut(line, "<")
		name = strings.TrimSpace(name)
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: strings.Fields(finalizers),
			OwnerReferences: s.references(owners)}}
		created, err := s.client.CoreV1().ConfigMaps(s.namespace).Create(s.t.Context(), o, metav1.CreateOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		s.uids[name] = created.UID
	}
}

func (s *fixture) references(owners string) []metav1.OwnerReference {
	var refs []metav1.OwnerReference
	for _, owner := range strings.Fields(owners) {
		name, blocks := strings.CutSuffix(owner, "+")
		uid, made := s.uids[name]
		if !made {
			uid = types.UID("of-" + name) // and of nobody
		}
		refs = append(refs, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: uid,
			BlockOwnerDeletion: &blocks})
	}
	return refs
}

// own gives an object owners besides those that it has.
func (s *fixture) own(name, owners string) {
	s.t.Helper()
	ctx, maps := s.t.Context(), s.client.CoreV1().ConfigMaps(s.namespace)
	o, err := maps.Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		o.OwnerReferences = append(o.OwnerReferences, s.references(owners)...)
		_, err = maps.Update(ctx, o, metav1.UpdateOptions{})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// delete deletes objects with a policy.
func (s *fixture) delete(policy plan.Policy, names ...string) {
	s.t.Helper()
	for _, name := range names {
		propagation := metav1.DeletionPropagation(policy)
		if err := s.client.CoreV1().ConfigMaps(s.namespace).Delete(s.t.Context(), name,
			metav1.DeleteOptions{PropagationPolicy: &propagation}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// left describes what is there, as make takes it, with a - before the name of what is being
// deleted.
func (s *fixture) left() []string {
	s.t.Helper()
	list, err := s.client.CoreV1().ConfigMaps(s.namespace).List(context.WithoutCancel(s.t.Context()), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, o := range list.Items {
		line := o.Name
		if o.DeletionTimestamp != nil {
			line = "-" + line
		}
		if len(o.OwnerReferences) > 0 {
			line += " <"
		}
		for _, r := range o.OwnerReferences {
			line += " " + r.Name
			if r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion {
				line += "+"
			}
		}
		if len(o.Finalizers) > 0 {
			line += " | " + strings.Join(o.Finalizers, " ")
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// options restrict the loop to the namespace.
func (s *fixture) options() Options {
	return Options{List: cluster.ListOptions{Namespace: s.namespace}, Allow: within(s.namespace)}
}

// run runs the loop to its end, and fails the test if a write fails.
func (s *fixture) run(client *cluster.Client, opts Options) (*Result, []plan.Event) {
	s.t.Helper()
	events := record(&opts)
	result, err := New(client, opts).Run(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range *events {
		if e.Err != nil {
			s.t.Errorf("%s %s: %v", e.Action.Verb, e.Action.Object.Name, e.Err)
		}
	}
	return result, *events
}

func record(opts *Options) *[]plan.Event {
	events := &[]plan.Event{}
	opts.OnEvent = func(e plan.Event) { *events = append(*events, e) }
	return events
}

// leftover is why the summary says that an object is left; empty if it does not.
func leftover(s *Result, name string) plan.ReasonCode {
	for _, l := range s.NotDeleted {
		if s.Graph.Ref(l.Object).Name == name {
			return l.Because.Code
		}
	}
	return ""
}

// everything makes what gives the loop each of its verbs to do.
func (s *fixture) everything() {
	s.t.Helper()
	s.make("solid", "a1 < nobody", "a2 < a1", "a3 < a2+", // a cascade in the background
		"b < nobody solid",                          // keeps one of its owners
		"f", "f1 < f+", "f2 < f1+", "f3 < f+ solid", // one in the foreground, and a dependent that lives on
		"o", "o1 < o", "o2 < o+ solid", "o3 < o+", // orphans, of which one has another owner
		"c1", "c2 < c1+", "c3 < c2+", // a circle
		"p < nobody | orphan", "p1 < p", // orphans its dependents by itself
		"h < nobody | "+hold, "h1 < h", // is held
		"d1", "d2 < d1+", // wait for each other
	)
	s.own("c1", "c3+")
	s.own("d1", "d2+")
	s.delete(plan.Foreground, "f", "c1", "d1", "d2")
	s.delete(plan.Orphan, "o")
}

// everythingLeft is what is left of that.
var everythingLeft = []string{
	"-h < nobody | " + hold, "b < solid", "f3 < solid", "h1 < h", "o1", "o2 < solid", "o3", "p1", "solid",
}

// among allows the objects of several fixtures.
func among(all []*fixture) func(*graph.Graph, graph.ID) bool {
	namespaces := map[string]bool{}
	for _, s := range all {
		namespaces[s.namespace] = true
	}
	return func(g *graph.Graph, id graph.ID) bool { return namespaces[g.Ref(id).Namespace] }
}

// secret makes a secret.
func (s *fixture) secret(name, owners string) {
	s.t.Helper()
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: s.references(owners)}}
	created, err := s.client.CoreV1().Secrets(s.namespace).Create(s.t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.uids[name] = created.UID
}

// secrets are the names of the secrets.
func (s *fixture) secrets() []string {
	s.t.Helper()
	list, err := s.client.CoreV1().Secrets(s.namespace).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, o := range list.Items {
		names = append(names, o.Name)
	}
	return names
}
