package collect

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/randomcluster"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var faultySeed = flag.Uint64("faulty-seed", 1,
	"seed of the first random graph to run the loop on while the server answers wrongly")

// TestNothingWithALiveOwnerIsDeleted_P01 makes random clusters, deletes some of their objects, and
// runs the loop again and again while the answers to its reads are wrong at random. No object may
// be deleted, and no reference taken off, because of an owner that was alive; not even by a last
// run that is answered rightly, after which nothing may be left for which a wrong answer has let an
// owner go too early.
func TestNothingWithALiveOwnerIsDeleted_P01(t *testing.T) {
	// It takes more than 10 s beside others: the loop runs again and again over each cluster, and
	// waits as long as answers are wrong.
	t.Parallel()
	c := testcluster.Shared(t)
	world := randomcluster.New(t, c)
	var faults, deleted int
	for i, b := range batches("f", *faultySeed, randomcluster.Graphs(), min(25, randomcluster.Graphs()/2)) {
		f := newFaultyReads(b[0].seed, i%2 == 1)
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(f.concerns, f.answer)
		client, err := cluster.New(proxy.Config(), 0)
		if err != nil {
			t.Fatal(err)
		}
		n, err := b.survive(t, world, f, client, newClient(t, c))
		if err != nil {
			t.Fatalf("seeds %d to %d: %v", b[0].seed, b[len(b)-1].seed, err)
		}
		faults, deleted = faults+f.count(), deleted+n
	}
	t.Logf("%d wrong answers; %d objects deleted", faults, deleted)
	// how many objects go depends on which answers are wrong
	if faults < randomcluster.Graphs() || deleted < randomcluster.Graphs()/4 {
		t.Errorf("%d wrong answers and %d objects deleted are too few to show anything", faults, deleted)
	}
}

// survive runs the loop on a batch with a client that is answered wrongly, and then with one that
// is not, and holds what is left against what may be. It returns how many objects are gone or being
// deleted.
func (b batch) survive(t *testing.T, world *randomcluster.World, f *faultyReads, faulty, direct *cluster.Client) (int,
	error) {
	ctx := t.Context()
	// objects that remain only make later listings longer
	defer func() { _ = world.Wipe(context.Background(), b.namespaces()) }()
	if err := b.create(ctx, world); err != nil {
		return 0, err
	}
	graphs, err := world.ListAll(ctx)
	if err != nil {
		return 0, err
	}
	for _, tr := range b {
		g := graphs[tr.namespace]
		policy := []plan.Policy{plan.Background, plan.Foreground, plan.Orphan}[tr.rng.IntN(3)]
		for _, root := range randomcluster.Roots(g, tr.namespace, tr.rng.IntN) {
			if err := world.Delete(ctx, g.Ref(root), string(policy)); err != nil {
				return 0, err
			}
		}
	}
	if graphs, err = world.ListAll(ctx); err != nil {
		return 0, err
	}
	f.spare(graphs)
	for run := range 4 {
		client := faulty
		if run == 3 {
			client = direct
		}
		writes := map[string][]string{}
		_, err := New(client, Options{Allow: b.within(), AllowOwnerLoss: true, Agree: AgreeToAll, OnEvent: func(e plan.Event) {
			namespace := clusterOf(e.Action.Object)
			writes[namespace] = append(writes[namespace],
				fmt.Sprintf("%d %s %s/%s %s: %s %s, %v", e.Action.Pass, e.Action.Verb, e.Action.Object.Kind, e.Action.Object.Name,
					e.Action.Policy, e.Action.Because, e.Action.Cause.Name, e.Err))
		}}).Run(ctx)
		if err != nil && (run == 3 || !f.unauthorized || !apierrors.IsUnauthorized(err)) {
			return 0, fmt.Errorf("run %d: %w", run, err)
		}
		left, err := world.ListAll(ctx)
		if err != nil {
			return 0, err
		}
		for _, tr := range b {
			for _, wrong := range truthOf(graphs[tr.namespace]).violations(left[tr.namespace]) {
				t.Errorf("seed %d, run %d: %s\nbefore:\n%s\nwrites:\n%s", tr.seed, run, wrong,
					strings.Join(randomcluster.Snapshot(graphs[tr.namespace], tr.namespace), "\n"),
					strings.Join(writes[tr.namespace], "\n"))
			}
		}
		if run == 3 {
			return b.missing(graphs, left), nil
		}
	}
	return 0, nil
}

// missing is how many objects are gone or being deleted that were not before.
func (b batch) missing(before, after map[string]*graph.Graph) int {
	n := 0
	for _, tr := range b {
		g := before[tr.namespace]
		for _, id := range randomcluster.Seen(g) {
			if g.State(id) == graph.Active && !alive(after[tr.namespace], g.Ref(id).UID) {
				n++
			}
		}
	}
	return n
}

// alive reports whether an object is there and not being deleted.
func alive(g *graph.Graph, uid string) bool {
	if g == nil {
		return false
	}
	id, ok := g.Lookup(uid)
	return ok && g.Observed(id) && g.State(id) == graph.Active
}

// truth is what may happen to the objects of a cluster, by what it was and nothing else.
type truth struct {
	graph *graph.Graph
	// mortal are the objects that may be deleted: each of their owners is gone, waits, or is mortal
	// itself.
	mortal map[graph.ID]bool
}

func truthOf(g *graph.Graph) *truth {
	tr := &truth{graph: g, mortal: map[graph.ID]bool{}}
	for more := true; more; {
		more = false
		for _, id := range randomcluster.Seen(g) {
			if !tr.mortal[id] && g.State(id) == graph.Active && tr.condemned(id) {
				tr.mortal[id], more = true, true
			}
		}
	}
	return tr
}

// condemned reports whether nothing keeps an object but owners that are gone, wait, or are mortal.
// A reference that an owner takes off, because it orphans its dependents, neither keeps an object
// nor condemns it; unless what it says of the owner is of nothing that exists, which is looked up.
func (tr *truth) condemned(id graph.ID) bool {
	condemned := false
	for e := range tr.graph.Owners(id) {
		switch {
		case tr.orphans(e.Owner) && e.Problem&misdirected == 0:
		case tr.ends(e):
			condemned = true
		default:
			return false
		}
	}
	return condemned
}

// misdirected are the ways in which a reference leads to an object that does not exist, and has the
// uid of one that does.
const misdirected = graph.WrongName | graph.WrongKind | graph.WrongNamespace

// ends reports whether a reference may be, or become, one to an owner that is gone or waits.
func (tr *truth) ends(e graph.Edge) bool {
	const undecidable = graph.Unresolvable | graph.WrongScope
	if e.Problem&undecidable != 0 {
		return false
	}
	return !tr.graph.Observed(e.Owner) || e.Problem&misdirected != 0 || tr.mortal[e.Owner] || tr.waits(e.Owner)
}

func (tr *truth) waits(id graph.ID) bool {
	return tr.graph.State(id) == graph.Deleting &&
		slices.Contains(tr.graph.Finalizers(id), metav1.FinalizerDeleteDependents)
}

// orphans reports whether an object orphans its dependents, or will if it is deleted: by its own
// finalizer, unless an owner that waits has it deleted in the foreground (GC-054).
func (tr *truth) orphans(id graph.ID) bool {
	if !tr.graph.Observed(id) || !slices.Contains(tr.graph.Finalizers(id), metav1.FinalizerOrphanDependents) {
		return false
	}
	if tr.graph.State(id) == graph.Deleting {
		return true
	}
	for e := range tr.graph.Owners(id) {
		if tr.mortal[e.Owner] || tr.graph.Observed(e.Owner) && tr.waits(e.Owner) {
			return false
		}
	}
	return true
}

// violations are what must not have happened.
func (tr *truth) violations(after *graph.Graph) []string {
	var wrong []string
	for _, id := range randomcluster.Seen(tr.graph) {
		r := tr.graph.Ref(id)
		switch {
		case tr.graph.State(id) != graph.Active || tr.mortal[id]:
		case !alive(after, r.UID):
			wrong = append(wrong, fmt.Sprintf("%s/%s was deleted", r.Kind, r.Name))
		default:
			for e := range tr.graph.Owners(id) {
				if !tr.ends(e) && !tr.orphans(e.Owner) && !refers(after, r.UID, tr.graph.Ref(e.Owner).UID) {
					wrong = append(wrong, fmt.Sprintf("%s/%s has lost its reference to %s/%s", r.Kind, r.Name, e.Kind, e.Name))
				}
			}
		}
	}
	return wrong
}

func refers(g *graph.Graph, uid, owner string) bool {
	id, _ := g.Lookup(uid)
	for e := range g.Owners(id) {
		if g.Ref(e.Owner).UID == owner {
			return true
		}
	}
	return false
}

// faultyReads answers reads wrongly at random.
type faultyReads struct {
	unauthorized bool // 401 is among the answers

	mu     sync.Mutex
	rng    *rand.Rand
	faults int
	spared map[[2]string]bool // kind and random cluster
}

func newFaultyReads(seed uint64, unauthorized bool) *faultyReads {
	return &faultyReads{unauthorized: unauthorized, rng: rand.New(rand.NewPCG(seed, 1)), spared: map[[2]string]bool{}}
}

// spare keeps dependents of owners that orphan from being left out of lists. A server that says
// that there are none cannot be told from one where there are none; all that a list is trusted with
// is that they exist, and that is what orphaning needs.
func (f *faultyReads) spare(graphs map[string]*graph.Graph) {
	for namespace, g := range graphs {
		for _, id := range randomcluster.Seen(g) {
			if !slices.Contains(g.Finalizers(id), metav1.FinalizerOrphanDependents) {
				continue
			}
			for e := range g.Dependents(id) {
				f.spared[[2]string{g.Ref(e.Dependent).Kind, namespace}] = true
			}
		}
	}
}

func (f *faultyReads) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.faults
}

var randomKinds = map[string]string{"configmaps": "ConfigMap", "secrets": "Secret", "things": "Thing",
	"clusterroles": "ClusterRole", "pods": "Pod"}

// kindOf is the kind that a path is about, and whether it is that of a list.
func kindOf(r *http.Request) (kind string, list bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if kind := randomKinds[parts[len(parts)-1]]; kind != "" {
		return kind, true
	}
	return randomKinds[parts[max(0, len(parts)-2)]], false
}

func (f *faultyReads) concerns(r *http.Request) bool {
	kind, _ := kindOf(r)
	return r.Method == http.MethodGet && kind != ""
}

func (f *faultyReads) answer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	kind, list := kindOf(r)
	f.choose(kind, list)(w, r, next)
}

// choose draws an answer: a third of the reads of one object are answered wrongly, and a quarter of
// the lists.
func (f *faultyReads) choose(kind string, list bool) faultproxy.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	pass := func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }
	if f.rng.IntN(3) != 0 || list && f.rng.IntN(4) == 0 {
		return pass
	}
	f.faults++
	if f.unauthorized && f.rng.IntN(60) == 0 {
		return faultproxy.Status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
	}
	switch f.rng.IntN(20) {
	case 0:
		return faultproxy.Reset()
	case 1:
		return faultproxy.Truncate(40)
	case 2, 3, 4:
		return faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden")
	case 5, 6, 7:
		return faultproxy.Plain(http.StatusNotFound, "404 page not found\n")
	case 8, 9:
		return faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError,
			"conversion webhook failed")
	case 10, 11:
		return faultproxy.Status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "unavailable")
	case 12, 13, 14:
		return anotherIsAbsent(f.rng.IntN(3))
	}
	if list {
		return f.leaveOut(kind, f.rng.Uint64())
	}
	return faultproxy.Plain(http.StatusOK, "{}")
}

// anotherIsAbsent answers 404 with a Status that is about something else than what was asked for.
func anotherIsAbsent(what int) faultproxy.Fault {
	details := []string{
		`{"name":"another","kind":"configmaps"}`, `{"name":"another","group":"plan.example.com","kind":"things"}`,
		`{"name":"o00","kind":"deployments","group":"apps"}`,
	}[what]
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"not found","details":` + details + `}`
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(body))
	}
}

// leaveOut leaves the objects of some random clusters out of a list.
func (f *faultyReads) leaveOut(kind string, salt uint64) faultproxy.Fault {
	return faultproxy.Edit(func(v any) any {
		list, _ := v.(map[string]any)
		items, _ := list["items"].([]any)
		list["items"] = slices.DeleteFunc(items, func(item any) bool {
			m, _ := item.(map[string]any)["metadata"].(map[string]any)
			namespace, _ := m["namespace"].(string)
			name, _ := m["name"].(string)
			in := clusterOf(graph.Ref{Namespace: namespace, Name: name})
			hash := salt
			for _, c := range in {
				hash = hash*31 + uint64(c)
			}
			return hash%2 == 0 && !f.spared[[2]string{kind, in}]
		})
		return list
	})
}
