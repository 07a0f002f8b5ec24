package collect

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.uber.org/goleak"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAnOwnerThatARestoredEtcdBringsBackIsReadAgain: that it was gone was proven some time ago,
// and a listing does not show it. It is alive, and its dependent stays.
func TestAnOwnerThatARestoredEtcdBringsBackIsReadAgain(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.secret("owner", "")
	s.make("dependent")
	s.patch("dependent", fmt.Sprintf(
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"owner","uid":%q}]}}`, s.uids["owner"]))
	proxy, client := proxied(t, c)
	proxy.On(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/secrets") }, hidden["403"])
	uid := string(s.uids["owner"])
	for name, known := range map[string]func(*proofs, time.Time){
		"a read has shown it": func(ps *proofs, at time.Time) {
			ps.byOwner[ownerKey{"v1", "Secret", s.namespace, "owner", uid}] = &proof{state: plan.Absent, known: true, read: at}
		},
		"it was deleted by the loop": func(ps *proofs, at time.Time) { ps.gone[uid] = at },
	} {
		loop := New(client, s.options())
		known(loop.proofs, time.Now().Add(-time.Hour))
		if _, err := loop.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := s.left(); len(left) != 1 {
			t.Errorf("%s: the dependent of an owner that is alive is deleted", name)
		}
	}
}

// nobody is a reference to an owner that does not exist.
func nobody(apiVersion, kind string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "nobody",
		UID: "00000000-0000-4000-8000-000000000001"}
}

// role makes a cluster role that is named after the namespace.
func (s *fixture) role(name string, refs ...metav1.OwnerReference) *rbacv1.ClusterRole {
	s.t.Helper()
	o := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: s.namespace + "-" + name, OwnerReferences: refs}}
	created, err := s.client.RbacV1().ClusterRoles().Create(s.t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.client.RbacV1().ClusterRoles().Delete(s.t.Context(), o.Name, metav1.DeleteOptions{}) })
	return created
}

// ownedBy makes a config map with a reference as it is given.
func (s *fixture) ownedBy(name string, ref metav1.OwnerReference) {
	s.t.Helper()
	s.make(name)
	s.patch(name, fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}]}}`,
		ref.APIVersion, ref.Kind, ref.Name, ref.UID))
}

// ours allows the objects of the namespace and the cluster-scoped ones that are named after it.
func (s *fixture) ours() func(*graph.Graph, graph.ID) bool {
	return func(g *graph.Graph, id graph.ID) bool {
		r := g.Ref(id)
		return r.Namespace == s.namespace || r.Namespace == "" && strings.HasPrefix(r.Name, s.namespace+"-")
	}
}

// TestNotServedIsNotAbsent_P04 has owners of all kinds of which nothing proves that they are
// absent, and says so in plan and loop alike.
func TestNotServedIsNotAbsent_P04(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	randomcluster.New(t, c) // for a custom type
	s := newFixture(t, c)
	for name, ref := range map[string]metav1.OwnerReference{
		"unserved-version": nobody("apps/v1beta1", "Deployment"),
		"unserved-group":   nobody("unheard.example.com/v1", "Thing"),
		"podlist":          nobody("v1", "PodList"),
		"list":             nobody("v1", "List"),
		"lower-case":       nobody("v1", "configmap"),
		"plural":           nobody("v1", "ConfigMaps"),
		"no-get":           nobody("authorization.k8s.io/v1", "SubjectAccessReview"),
		"subresource":      nobody("autoscaling/v1", "Scale"),
		"ambiguous":        nobody("v1", "Secret"),
		"stale":            nobody("stale.example.com/v1", "Stale"),
		"current-empty":    nobody("empty.example.com/v1", "Empty"),
		"deleted-crd":      nobody("plan.example.com/v1", "Thing"),
		"no-group":         nobody("", "ConfigMap"),
	} {
		if ref.APIVersion == "" {
			ref.APIVersion = "/v1"
		}
		s.ownedBy(name, ref)
	}
	s.make("proof < nobody")
	role := s.role("bad-scope", nobody("v1", "ConfigMap"))
	before := s.left()
	proxy, client := proxied(t, c)
	// The CRD is deleted between the listing and the read: its endpoint is not there any more.
	proxy.On(faultproxy.Path("/things/nobody"), faultproxy.Plain(http.StatusNotFound, "404 page not found\n"))
	proxy.On(func(r *http.Request) bool { return r.URL.Path == "/api" }, faultproxy.Edit(secondSecrets))
	proxy.On(func(r *http.Request) bool { return r.URL.Path == "/apis" }, faultproxy.Edit(staleAndEmpty))

	opts := Options{Allow: s.ours()}
	snapshot, err := New(client, opts).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	planned := plan.NewRun(snapshot.Graph,
		plan.Options{Proven: snapshot.Proven, Gaps: snapshot.Gaps,
			Allow: func(id graph.ID) bool { return opts.Allow(snapshot.Graph, id) }})
	for _, a := range planned.Actions {
		if name := snapshot.Graph.Ref(a.Object).Name; name != "proof" {
			t.Errorf("the plan has a %s of %s", a.Verb, name)
		}
	}
	result, err := New(client, opts).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.check(slices.DeleteFunc(before, func(line string) bool { return strings.HasPrefix(line, "proof ") })...)
	for _, line := range append(s.left(), role.Name) {
		name, _, _ := strings.Cut(line, " ")
		if why := leftover(result, name); why != plan.OwnerUnresolved {
			t.Errorf("%s is left because of %q", name, why)
		}
	}
}

// secondSecrets adds a second resource of the kind Secret to the discovery of the core group.
func secondSecrets(v any) any {
	version := v.(map[string]any)["items"].([]any)[0].(map[string]any)["versions"].([]any)[0].(map[string]any)
	resources := version["resources"].([]any)
	for _, r := range resources {
		if r.(map[string]any)["resource"] == "secrets" {
			second := map[string]any{}
			for key, value := range r.(map[string]any) {
				second[key] = value
			}
			second["resource"], second["verbs"] = "secretkeys", []any{"get"}
			version["resources"] = append(resources, second)
			break
		}
	}
	return v
}

// staleAndEmpty adds a group whose server cannot be reached, and one that is said to have nothing
// (API-056).
func staleAndEmpty(v any) any {
	list := v.(map[string]any)
	group := func(name, kind, freshness string) any {
		return map[string]any{"metadata": map[string]any{"name": name},
			"versions": []any{map[string]any{"version": "v1", "freshness": freshness, "resources": []any{}}}}
	}
	list["items"] = append(list["items"].([]any), group("stale.example.com", "Stale", "Stale"),
		group("empty.example.com", "Empty", "Current"))
	return list
}

// TestKindSpelledOtherwiseInACascade_P04: what a cascade takes in a plan of the loop it takes in
// the loop; neither guesses which kind is meant.
func TestKindSpelledOtherwiseInACascade_P04(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody")
	s.ownedBy("lower", metav1.OwnerReference{APIVersion: "v1", Kind: "configmap", Name: "a", UID: s.uids["a"]})
	client := newClient(t, c)
	snapshot, err := New(client, s.options()).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	planned := plan.NewRun(snapshot.Graph,
		plan.Options{Proven: snapshot.Proven,
			Allow: func(id graph.ID) bool { return within(s.namespace)(snapshot.Graph, id) }})
	if len(planned.Actions) != 1 {
		t.Errorf("the plan is\n%s", actions(planned))
	}
	result, _ := s.run(client, s.options())
	s.check("lower < a")
	if why := leftover(result, "lower"); why != plan.OwnerUnresolved {
		t.Errorf("left because of %q", why)
	}
}

// TestNamespacesAndScopes_P08: where a reference is resolved, and what of it can be judged.
func TestNamespacesAndScopes_P08(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s, other := newFixture(t, c), newFixture(t, c)
	other.make("owner")
	there := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: other.uids["owner"]}
	role := s.role("owner")
	s.ownedBy("cross-namespace", there)
	s.ownedBy("of-role", metav1.OwnerReference{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole",
		Name: role.Name, UID: role.UID})
	s.ownedBy("of-no-role", nobody("rbac.authorization.k8s.io/v1", "ClusterRole"))
	s.make("here")
	namespaced := s.role("of-namespaced",
		metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "here", UID: s.uids["here"]})
	gone := s.role("of-no-role", nobody("rbac.authorization.k8s.io/v1", "ClusterRole"))
	s.delete(plan.Background, "here") // after which nothing owns of-namespaced, and the collector keeps it (GC-048)
	client := newClient(t, c)

	s.run(client, Options{Allow: s.ours(), Overrides: plan.Overrides{KeepMismatched: true}})
	s.check("cross-namespace < owner", "of-role < "+role.Name)
	s.run(client, Options{Allow: s.ours()})
	s.check("of-role < " + role.Name)
	other.check("owner")
	if got, want := s.roles(), []string{namespaced.Name, role.Name}; !slices.Equal(got, want) {
		t.Errorf("cluster roles %v, want %v; %s was to go", got, want, gone.Name)
	}
}

func (s *fixture) roles() []string {
	s.t.Helper()
	list, err := s.client.RbacV1().ClusterRoles().List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, o := range list.Items {
		if strings.HasPrefix(o.Name, s.namespace+"-") {
			names = append(names, o.Name)
		}
	}
	return names
}

// TestSecondRunCostsTheListing_P11_P20: a run that has nothing to do sends lists and asks
// discovery, and nothing else (P-11). No run ever finalizes a namespace.
func TestSecondRunCostsTheListing_P11_P20(t *testing.T) {
	// It takes more than 10 s beside others: everything that the loop knows is made and collected
	// first.
	t.Parallel()
	c := testcluster.Shared(t)
	randomcluster.New(t, c) // so that its type does not come between the runs, for another test
	s := newFixture(t, c)
	s.everything()
	proxy, client := proxied(t, c)
	opts := s.options()
	opts.Overrides = terms
	s.run(client, opts)
	s.check(everythingLeft...)
	first := len(proxy.Requests())
	for _, r := range proxy.Requests() {
		if r.Method == http.MethodPut || r.Method == http.MethodPost || strings.Contains(r.Path, "/finalize") {
			t.Errorf("the loop sent %s %s", r.Method, r.Path)
		}
	}
	_, events := s.run(client, opts)
	if len(events) > 0 {
		t.Errorf("the second run did %v", events)
	}
	for _, r := range proxy.Requests()[first:] {
		list := r.Query.Get("limit") != ""
		if r.Method != http.MethodGet || !list && r.Path != "/api" && r.Path != "/apis" {
			t.Errorf("the second run sent %s %s", r.Method, r.Path)
		}
	}
}

// TestOwnOrphanFinalizerIsHonoured_P16: what carries the finalizer orphan orphans its dependents
// although its owner is gone (GC-055).
func TestOwnOrphanFinalizerIsHonoured_P16(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("p < nobody | orphan", "child < p", "blocking < p+", "grandchild < child")
	s.run(newClient(t, c), s.options())
	s.check("blocking", "child", "grandchild < child")
}

// TestCyclesAreKeptDeletedOrReported_P17: a cycle that nobody deletes is kept; one that is deleted
// in the foreground goes; one whose members all wait is reported, and broken if the terms say so;
// and so is an object that waits for itself.
func TestCyclesAreKeptDeletedOrReported_P17(t *testing.T) {
	t.Parallel()
	ring := func(s *fixture) {
		s.make("a", "b < a+", "c < b+")
		s.own("a", "c+")
	}
	for _, tt := range []struct {
		name         string
		make         func(*fixture)
		left, broken []string
	}{
		{"island", ring, []string{"a < c+", "b < a+", "c < b+"}, []string{"a < c+", "b < a+", "c < b+"}},
		{"foreground", func(s *fixture) { ring(s); s.delete(plan.Foreground, "a") }, nil, nil},
		{"background", func(s *fixture) { ring(s); s.delete(plan.Background, "a") }, nil, nil},
		{"all wait", func(s *fixture) { ring(s); s.delete(plan.Foreground, "a", "b", "c") },
			[]string{"-a < c+ | foregroundDeletion", "-b < a+ | foregroundDeletion", "-c < b+ | foregroundDeletion"}, nil},
		{"itself", func(s *fixture) { s.make("a"); s.own("a", "a+"); s.delete(plan.Foreground, "a") },
			[]string{"-a < a+ | foregroundDeletion"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			tt.make(s)
			client, opts := newClient(t, c), s.options()
			result, _ := s.run(client, opts)
			s.check(tt.left...)
			for _, line := range tt.left {
				name, _, _ := strings.Cut(strings.TrimPrefix(line, "-"), " ")
				if why := leftover(result, name); strings.HasPrefix(line, "-") && why != plan.DependentsBlock {
					t.Errorf("%s is left because of %q", name, why)
				}
			}
			opts.Overrides.BreakDeadlocks = true
			s.run(client, opts)
			s.check(tt.broken...)
		})
	}
}

// TestDamageIsBounded_P18 restores a backup: its references name uids that are no more, and the
// names are others' now. And a run that may delete so many objects deletes no more.
func TestDamageIsBounded_P18(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	var left []string
	for i := range 5 {
		owner, dependent := fmt.Sprintf("owner%d", i), fmt.Sprintf("restored%d", i)
		s.make(dependent + " < " + owner) // which was not made yet, so that the reference has another uid
		s.make(owner)
		left = append(left, owner)
	}
	client, opts := newClient(t, c), s.options()
	snapshot, err := New(client, opts).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	planned := plan.NewRun(snapshot.Graph,
		plan.Options{Proven: snapshot.Proven, Allow: func(id graph.ID) bool { return opts.Allow(snapshot.Graph, id) }})
	losses := planned.OwnerLosses(nil)
	if len(losses) != 1 || losses[0] != (plan.OwnerLoss{Kind: "ConfigMap", Replaced: 5, Dependents: 5}) {
		t.Errorf("masses %+v", losses)
	}
	events := record(&opts)
	var loss *OwnerLossError
	if _, err := New(client, opts).Run(t.Context()); !errors.As(err, &loss) || len(loss.Losses) != 1 {
		t.Errorf("got %v, want the mass", err)
	}
	opts.AllowOwnerLoss, opts.MaxDeletes = true, 4
	var most *MaxDeletesError
	if _, err := New(client, opts).Run(t.Context()); !errors.Is(err, ErrMaxDeletes) || !errors.As(err, &most) ||
		*most != (MaxDeletesError{Planned: 5, Max: 4}) {
		t.Errorf("got %v, want that it is too many", err)
	}
	if len(*events) != 0 || len(s.left()) != 10 {
		t.Errorf("%d writes, left %v", len(*events), s.left())
	}
	opts.MaxDeletes = 5
	s.run(client, opts)
	s.check(left...)
}

// TestWritesAreContained_P19: what may not be written to is not, not even as the dependent of what
// may; and what may only be let go after that stays. The plan says the same.
func TestWritesAreContained_P19(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("o", "a < o", "f", "b < f+", "gone < nobody", "o2", "c < o2")
	s.secret("of-o", "o")
	s.secret("of-f", "f+")
	s.secret("of-nobody", "nobody")
	s.delete(plan.Orphan, "o", "o2")
	s.delete(plan.Foreground, "f")
	proxy, client := proxied(t, c)
	opts := Options{List: s.options().List, Allow: func(g *graph.Graph, id graph.ID) bool {
		return within(s.namespace)(g, id) && g.Ref(id).Kind == "ConfigMap" && g.Ref(id).Name != "c"
	}}
	snapshot, err := New(client, opts).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	planned := plan.NewRun(snapshot.Graph,
		plan.Options{Proven: snapshot.Proven, Allow: func(id graph.ID) bool { return opts.Allow(snapshot.Graph, id) }})
	for _, a := range planned.Actions {
		if r := snapshot.Graph.Ref(a.Object); r.Kind != "ConfigMap" || r.Name == "c" {
			t.Errorf("the plan has a %s of %s %s", a.Verb, r.Kind, r.Name)
		}
	}
	s.run(client, opts)
	s.check("-f | foregroundDeletion", "-o | orphan", "-o2 | orphan", "a", "c < o2")
	var deleted []string
	for _, id := range planned.Deleted {
		deleted = append(deleted, snapshot.Graph.Ref(id).Name)
	}
	if want := []string{"b", "gone"}; !slices.Equal(deleted, want) {
		t.Errorf("the plan deletes %v, want %v", deleted, want)
	}
	if got, want := s.secrets(), []string{"of-f", "of-nobody", "of-o"}; !slices.Equal(got, want) {
		t.Errorf("secrets %v, want %v", got, want)
	}
	for _, r := range proxy.Requests() {
		if r.Method != http.MethodGet &&
			(!strings.Contains(r.Path, "/namespaces/"+s.namespace+"/configmaps/") || strings.HasSuffix(r.Path, "/c")) {
			t.Errorf("the loop sent %s %s", r.Method, r.Path)
		}
	}
}

// TestWhateverIsLeftIsExplained_P21 has one of each that looks as if it had to go and stays.
func TestWhateverIsLeftIsExplained_P21(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("solid", "unread < hidden-owner", "refused < nobody", "held < nobody | "+hold, "waits",
		"blocks < waits+ | "+hold,
		"self", "orphaning", "unlisted", "healthy < solid")
	s.ownedBy("unserved", nobody("unheard.example.com/v1", "Thing"))
	s.ownedBy("kept", nobody("unheard.example.com/v1", "Thing"))
	s.own("kept", "solid")
	s.ownedBy("mismatched", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "somebody",
		UID: types.UID(s.uids["solid"])})
	s.own("self", "self+")
	s.delete(plan.Foreground, "waits", "self")
	s.secret("of-unlisted", "unlisted")
	s.delete(plan.Orphan, "unlisted")
	proxy, client := proxied(t, c)
	forbidden := faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden")
	proxy.On(faultproxy.Path("/hidden-owner"), forbidden)
	proxy.On(writesTo(http.MethodDelete, "refused"), forbidden)
	proxy.On(faultproxy.Path("/secrets"), forbidden)
	opts := s.options()
	opts.Overrides.KeepMismatched = true
	result, err := New(client, opts).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]plan.ReasonCode{
		"unread": plan.OwnerUnresolved, "unserved": plan.OwnerUnresolved, "mismatched": plan.OwnerUnresolved,
		"kept":    plan.OwnedByAnother,
		"refused": plan.NotDone, "held": plan.ForeignFinalizers, "blocks": plan.ForeignFinalizers,
		"waits": plan.DependentsBlock, "self": plan.DependentsBlock, "unlisted": plan.DependentsBlock,
		"solid": "", "healthy": "", "orphaning": "",
	} {
		if got := leftover(result, name); got != want {
			t.Errorf("%s is left because of %q, want %q", name, got, want)
		}
	}
}

// TestThrottlingIsRespected_P22 is told to come back later; no more requests are in flight than are
// allowed, and nothing is left running.
func TestThrottlingIsRespected_P22(t *testing.T) {
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	for i := range 6 {
		owner := fmt.Sprintf("o%d", i)
		s.make(owner)
		for j := range 5 {
			s.make(fmt.Sprintf("%s-%d < %s", owner, j, owner), fmt.Sprintf("gone%d-%d < nobody%d", i, j, i))
		}
		s.delete(plan.Orphan, owner)
	}
	leaks := goleak.IgnoreCurrent()
	proxy := faultproxy.Start(t, c.Config())
	const atMost = 4
	client, err := cluster.New(proxy.Config(), atMost)
	if err != nil {
		t.Fatal(err)
	}
	proxy.On(func(r *http.Request) bool { return namespaceOf(r.URL.Path) == s.namespace },
		faultproxy.Delay(5*time.Millisecond))
	proxy.On(writesTo(http.MethodDelete, "gone0-0"), faultproxy.Times(2, faultproxy.RetryAfter(1)))
	proxy.On(writesTo(http.MethodPatch, "o0-0"), faultproxy.Times(1, faultproxy.RetryAfter(1)))
	start := time.Now()
	s.run(client, s.options())
	if took := time.Since(start); took < 2*time.Second {
		t.Errorf("the run took %s, and was told twice to wait for a second", took)
	}
	if got := s.left(); len(got) != 30 {
		t.Errorf("left %v", got)
	}
	if reads, writes := proxy.MostReads(), proxy.MostWrites(); reads > atMost || writes > atMost {
		t.Errorf("%d reads and %d writes were in flight at once", reads, writes)
	}
	kept := []goleak.Option{
		leaks, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*clientConnReadLoop).run"),
		goleak.IgnoreAnyFunction("net/http.(*Server).Serve"), goleak.IgnoreAnyFunction("net/http.(*conn).serve"),
		goleak.IgnoreAnyFunction("net/http.(*http2clientConnReadLoop).run"),
	}
	goleak.VerifyNone(t, kept...)
}
