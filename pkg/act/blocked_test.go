package act

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

var (
	configMaps = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	widgets    = graph.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}
)

// made is an object of a type, whose uid is its name.
func made(t graph.Type, name string, owners ...graph.OwnerReference) graph.Object {
	return graph.Object{Namespace: "ns", Name: name, UID: name, ResourceVersion: "1", Owners: owners}
}

func to(t graph.Type, name string, block bool) graph.OwnerReference {
	return graph.OwnerReference{APIVersion: t.APIVersion(), Kind: t.Kind, Name: name, UID: name, Block: block}
}

func built(objects map[graph.Type][]graph.Object) *graph.Graph {
	b := graph.NewBuilder()
	for _, t := range []graph.Type{configMaps, widgets} {
		b.Serve(t)
		l := b.Listing(t, "")
		for _, o := range objects[t] {
			l.Add(o)
		}
		l.Complete()
	}
	return b.Build()
}

// counted are Blocking and CollectorsTurn of what is left, counted anew from the graphs.
func counted(w *waiter, l *waited) (int, bool) {
	blockers := map[graph.ID]bool{}
	for e := range l.graph.Dependents(l.id) {
		if _, pending := w.awaited[l.graph.Ref(e.Dependent).UID]; pending && (e.Block || l.cascade.blocking[e.Index]) {
			blockers[e.Dependent] = true
		}
	}
	n := 0
	if slices.Contains(l.Finalizers, plan.ForegroundFinalizer) {
		n = len(blockers)
	}
	if !l.Deleting {
		for e := range l.graph.Owners(l.id) {
			if _, pending := w.awaited[l.graph.Ref(e.Owner).UID]; pending {
				return n, false
			}
		}
		return n, l.graph.OwnerCount(l.id) > 0
	}
	return n, len(l.Finalizers) == 1 &&
		(l.Finalizers[0] == plan.OrphanFinalizer || l.Finalizers[0] == plan.ForegroundFinalizer && n == 0)
}

// TestWhatKeepsAnObjectIsCountedWhileTheCascadeGoes, in whatever order it goes, also when the rest
// was planned again from another listing, in which there is more.
func TestWhatKeepsAnObjectIsCountedWhileTheCascadeGoes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		objects := map[graph.Type][]graph.Object{}
		var names []string
		more := func(n int) {
			for range n {
				typ := []graph.Type{configMaps, widgets}[r.IntN(2)]
				o := made(typ, fmt.Sprintf("o%d", len(names)))
				for range r.IntN(4) {
					if len(names) > 0 { // the same owner twice, too
						owner := names[r.IntN(len(names))]
						ownerType := configMaps
						if slices.ContainsFunc(objects[widgets], func(o graph.Object) bool { return o.Name == owner }) {
							ownerType = widgets
						}
						o.Owners = append(o.Owners, to(ownerType, owner, r.IntN(2) == 0))
					}
				}
				names = append(names, o.Name)
				objects[typ] = append(objects[typ], o)
			}
		}
		w := newWaiter(Options{}.serialized())
		check := func(what string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			n := 0
			for l := range w.each {
				n++
				if blocking, turn := counted(w, l); l.BlockingDependents != blocking || l.CollectorsTurn != turn {
					t.Fatalf("seed %d, %s, %s: %d block it, the collector's turn %t; want %d, %t", seed, what, l.Object.Name,
						l.BlockingDependents, l.CollectorsTurn, blocking, turn)
				}
			}
			if n != len(w.awaited) {
				t.Fatalf("seed %d, %s: goes over %d, and %d are left", seed, what, n, len(w.awaited))
			}
		}
		planned := func() {
			g := built(objects)
			roots := []graph.ID{graph.ID(r.IntN(g.Len())), graph.ID(r.IntN(g.Len()))}
			w.add(Replanned{Plan: plan.New(g, roots, plan.Foreground, plan.Options{Strict: seed%2 == 0})})
		}
		step := func() {
			for uid := range w.awaited {
				l, _ := w.get(uid)
				o := &graph.Object{UID: uid}
				for e := range l.graph.Owners(l.id) {
					o.Owners = append(o.Owners, graph.OwnerReference{UID: l.graph.Ref(e.Owner).UID})
				}
				switch r.IntN(3) {
				case 0:
					w.change(cluster.Change{Object: o, Gone: true})
				case 1:
					o.DeletionTimestamp = 1
					o.Finalizers = [][]string{{plan.ForegroundFinalizer}, {plan.OrphanFinalizer}, {"example.com/x"},
						{plan.ForegroundFinalizer, "example.com/x"}}[r.IntN(4)]
					w.change(cluster.Change{Object: o})
				}
				return
			}
		}
		more(20)
		planned()
		check("planned")
		for range 15 {
			step()
			check("after a change")
		}
		more(10)
		planned()
		check("planned again")
		for range 200 {
			step()
			check("after a change")
		}
		w.sent(map[string]bool{})
		if len(w.blocked()) != 0 {
			t.Fatalf("seed %d: left %v, and nothing is expected to go", seed, w.blocked())
		}
	}
}

// TestTheMostUrgentAreTold: what somebody can do something about comes first, what is alike in the
// order of the graph, and the rest is counted.
func TestTheMostUrgentAreTold(t *testing.T) {
	t.Parallel()
	w := newWaiter(Options{}.serialized())
	objects := map[graph.Type][]graph.Object{configMaps: {made(configMaps, "owner")}}
	for i := range 40 {
		objects[configMaps] = append(objects[configMaps],
			made(configMaps, fmt.Sprintf("n%02d", i), to(configMaps, "owner", true)))
	}
	g := built(objects)
	owner, _ := g.Lookup("owner")
	w.add(Replanned{Plan: plan.New(g, []graph.ID{owner}, plan.Background, plan.Options{})})
	now := time.Now()
	names := func() (names []string) {
		for _, l := range w.progress(now).Blocked {
			names = append(names, l.Object.Name)
		}
		return names
	}
	if got, want := names(), []string{"n00", "n01", "n02", "n03", "n04", "n05", "n06", "n07"}; !slices.Equal(got, want) ||
		w.progress(now).CollectorsTurn != nil {
		t.Errorf("before anything has happened: %v, want %v", got, want)
	}
	w.change(cluster.Change{Object: &graph.Object{UID: "n39", DeletionTimestamp: 1,
		Finalizers: []string{"example.com/x"}}})
	w.change(cluster.Change{Object: &graph.Object{UID: "n20", DeletionTimestamp: 1,
		Finalizers: []string{"example.com/x"}}})
	w.change(cluster.Change{Object: &graph.Object{UID: "n30", DeletionTimestamp: 1}})
	if got, want := names(), []string{"n20", "n39", "n30", "n00", "n01", "n02", "n03", "n04"}; !slices.Equal(got, want) {
		t.Errorf("two with finalizers and one without: %v, want %v", got, want)
	}
	w.change(cluster.Change{Object: &graph.Object{UID: "owner"}, Gone: true})
	w.refused("n00", ErrChanged)
	p := w.progress(now)
	if got, want := names(), []string{"n00", "n20", "n39", "n01", "n02", "n03", "n04", "n05"}; !slices.Equal(got, want) {
		t.Errorf("one refused, the others the collector's: %v, want %v", got, want)
	}
	if p.BlockedCount != 40 || p.Total != 41 || p.CollectorsTurn == nil || p.CollectorsTurn.Object.Name != "n01" {
		t.Errorf("progress %+v; want 40 of 41 left, and n01 to be the collector's turn", p)
	}
}

// TestTheCollectorIsNotBlamedForANewKind: it looks for new kinds twice a minute. An object that is
// older than that proves that its kind is.
func TestTheCollectorIsNotBlamedForANewKind(t *testing.T) {
	t.Parallel()
	now := time.Now()
	routes := graph.Type{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes", Kind: "HTTPRoute", // a CRD's
		Namespaced: true}
	for _, test := range []struct {
		of      graph.Type
		age     time.Duration
		blaming bool
	}{{widgets, 40 * time.Second, false}, {widgets, 2 * time.Minute, true}, {configMaps, 40 * time.Second, true},
		{routes, 40 * time.Second, false}} {
		w := newWaiter(Options{}.serialized())
		dependent := made(test.of, "n", to(configMaps, "owner", true))
		dependent.CreationTimestamp = now.Add(-test.age).Unix()
		objects := map[graph.Type][]graph.Object{configMaps: {made(configMaps, "owner")}}
		objects[test.of] = append(objects[test.of], dependent)
		g := built(objects)
		owner, _ := g.Lookup("owner")
		w.add(Replanned{Plan: plan.New(g, []graph.ID{owner}, plan.Background, plan.Options{})})
		w.change(cluster.Change{Object: &graph.Object{UID: "owner"}, Gone: true})
		if got := w.progress(now).CollectorsTurn != nil; got != test.blaming {
			t.Errorf("a %s that is %s old: the collector's turn: %t, want %t", test.of.Kind, test.age, got, test.blaming)
		}
	}
}

// wide is the wait for an owner with n dependents.
func wide(n int) *waiter {
	objects := map[graph.Type][]graph.Object{configMaps: {made(configMaps, "owner")}}
	for i := range n {
		objects[widgets] = append(objects[widgets],
			made(widgets, fmt.Sprintf("dependent-%07d", i), to(configMaps, "owner", true)))
	}
	g := built(objects)
	owner, _ := g.Lookup("owner")
	w := newWaiter(Options{}.serialized())
	w.add(Replanned{Plan: plan.New(g, []graph.ID{owner}, plan.Foreground, plan.Options{})})
	for i := range n {
		if i%3 == 0 {
			w.change(cluster.Change{Object: &graph.Object{UID: fmt.Sprintf("dependent-%07d", i), DeletionTimestamp: 1,
				Finalizers: []string{"example.com/x"}}})
		}
	}
	return w
}

// BenchmarkLiveView is one look at 200,000 objects that are left, during which the lock is held,
// and how many times as long that is as for a quarter of them.
func BenchmarkLiveView(b *testing.B) {
	const n = 50_000
	few, many := wide(n), wide(4*n)
	var fewTook, manyTook time.Duration
	b.ResetTimer()
	for range b.N {
		start := time.Now()
		few.progress(start)
		fewTook += time.Since(start)
		start = time.Now()
		many.progress(start)
		manyTook += time.Since(start)
	}
	b.ReportMetric(float64(manyTook.Microseconds())/float64(b.N)/1000, "ms/200000")
	b.ReportMetric(float64(manyTook)/float64(fewTook), "times-for-4n")
}

// BenchmarkCascadeGoes is how long it takes to hear of 200,000 objects that they are gone, and how
// many times as long that is as for a quarter of them.
func BenchmarkCascadeGoes(b *testing.B) {
	const n = 50_000
	all := func(n int) time.Duration {
		w := wide(n)
		start := time.Now()
		for i := range n {
			w.change(cluster.Change{Object: &graph.Object{UID: fmt.Sprintf("dependent-%07d", i)}, Gone: true})
			if i%(n/20) == 0 {
				w.progress(start)
			}
		}
		return time.Since(start)
	}
	var few, many time.Duration
	for range b.N {
		few += all(n)
		many += all(4 * n)
	}
	b.ReportMetric(float64(many.Milliseconds())/float64(b.N), "ms/200000")
	b.ReportMetric(float64(many)/float64(few), "times-for-4n")
}
