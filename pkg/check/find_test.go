package check_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

var (
	things   = graph.Type{Group: "example.com", Version: "v1", Resource: "things", Kind: "Thing", Namespaced: true}
	gadgets  = graph.Type{Group: "example.com", Version: "v1", Resource: "gadgets", Kind: "Gadget", Namespaced: true}
	clusters = graph.Type{Group: "example.com", Version: "v1", Resource: "clusters", Kind: "Cluster"}
	hidden   = graph.Type{Group: "example.com", Version: "v1", Resource: "hidden", Kind: "Hidden", Namespaced: true}
)

// small is a cluster of few objects. Their uids are their names.
type small map[graph.Type][]graph.Object

func (s small) build() *graph.Graph {
	b := graph.NewBuilder()
	for _, t := range []graph.Type{things, gadgets, clusters} {
		b.Serve(t, "v1beta1")
		l := b.Listing(t, "")
		l.Add(s[t]...)
		l.Complete()
	}
	b.Serve(hidden)
	return b.Build()
}

func object(namespace, name string, owners ...graph.OwnerReference) graph.Object {
	return graph.Object{Namespace: namespace, Name: name, UID: name, Owners: owners}
}

func owner(kind, name string) graph.OwnerReference {
	return graph.OwnerReference{APIVersion: "example.com/v1", Kind: kind, Name: name, UID: name}
}

// with changes a reference.
func with(r graph.OwnerReference, change func(*graph.OwnerReference)) graph.OwnerReference {
	change(&r)
	return r
}

func blocking(r *graph.OwnerReference)   { r.Block = true }
func controller(r *graph.OwnerReference) { r.Controller = true }

// lines are findings as OBJECT CODE EFFECT, with the index of the reference where there is one.
func lines(findings []v1alpha1.CheckFinding) []string {
	all := []string{}
	for _, f := range findings {
		at := ""
		if f.OwnerReference != nil {
			at = fmt.Sprintf("[%d]", f.Index)
		}
		all = append(all, fmt.Sprintf("%s%s %s %s", f.Object.Name, at, f.Code, f.Effect))
	}
	return all
}

// TestEachWayInWhichAReferenceIsWrongHasItsCodeAndEffect, as the collector of Kubernetes acts
// (GC-046 to GC-051).
func TestEachWayInWhichAReferenceIsWrongHasItsCodeAndEffect(t *testing.T) {
	t.Parallel()
	deleting := object("a", "deleting", owner("Thing", "nobody"))
	deleting.DeletionTimestamp, deleting.Finalizers = 1, []string{"example.com/x"}
	waiting := object("a", "waiting")
	waiting.DeletionTimestamp, waiting.Finalizers = 1, []string{plan.ForegroundFinalizer}
	orphaning := object("a", "orphaning")
	orphaning.DeletionTimestamp, orphaning.Finalizers = 1, []string{plan.OrphanFinalizer}
	served := func(apiVersion, kind string) graph.OwnerReference {
		return graph.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "o", UID: "o"}
	}
	for name, test := range map[string]struct {
		of   small
		in   check.Input
		want []string
	}{
		"nothing":      {of: small{things: {object("a", "x", owner("Gadget", "o"))}, gadgets: {object("a", "o")}}},
		"no reference": {of: small{things: {object("a", "x")}}},
		"a version that is not preferred": {of: small{
			things: {object("a", "x", graph.OwnerReference{APIVersion: "example.com/v1beta1", Kind: "Gadget", Name: "o",
				UID: "o"})}, gadgets: {object("a", "o")}}},
		"a cluster-scoped owner": {of: small{things: {object("a", "x", owner("Cluster", "o"))}, clusters: {object("", "o")}}},
		"no owner": {of: small{things: {object("a", "x", owner("Thing", "nobody"))}},
			want: []string{"x[0] OwnerAbsent DeleteObject"}},
		"no owner, of an object that goes already": {of: small{things: {deleting}}},
		"no owner, and another that is there": {
			of:   small{things: {object("a", "x", owner("Thing", "nobody"), owner("Gadget", "o"))}, gadgets: {object("a", "o")}},
			want: []string{"x[0] OwnerAbsent RemoveReference"}},
		"created again": {
			of:   small{things: {object("a", "x", owner("Thing", "o"))}},
			in:   check.Input{Proven: map[int]plan.OwnerState{0: plan.Replaced}},
			want: []string{"x[0] OwnerReplaced DeleteObject"}},
		"another name": {
			of: small{things: {object("a", "x", with(owner("Gadget", "o"), func(r *graph.OwnerReference) { r.Name = "p" }))},
				gadgets: {object("a", "o")}}, want: []string{"x[0] WrongName DeleteObject"}},
		"another kind": {of: small{things: {object("a", "x", owner("Thing", "o"))}, gadgets: {object("a", "o")}},
			want: []string{"x[0] WrongKind DeleteObject"}},
		"another namespace": {of: small{things: {object("a", "x", owner("Gadget", "o"))},
			gadgets: {object("b", "o")}}, want: []string{"x[0] WrongNamespace DeleteObject"}},
		"a namespaced owner of a cluster-scoped object": {of: small{clusters: {object("", "x", owner("Gadget", "o"))},
			gadgets: {object("a", "o")}}, want: []string{"x[0] WrongScope KeepObject"}},
		"the same, and it blocks": {
			of:   small{clusters: {object("", "x", with(owner("Gadget", "o"), blocking))}, gadgets: {object("a", "o")}},
			want: []string{"x[0] WrongScope KeepObject", "x[0] BlocksOwner BlockOwner"}},
		"a kind that is not served": {of: small{things: {object("a", "x", served("example.net/v1", "Other"))}},
			want: []string{"x[0] KindNotServed KeepObject"}},
		"a version that is not served": {of: small{things: {object("a", "x",
			served("example.com/v1alpha1", "Gadget"))}}, want: []string{"x[0] VersionNotServed KeepObject"}},
		"a kind in a group that is in a gap": {of: small{things: {object("a", "x", served("example.net/v1", "Other"))}},
			in: gap("*", "example.net"), want: []string{"x[0] OwnerUnknown Unknown"}},
		"a type in a gap": {of: small{things: {object("a", "x", owner("Hidden", "o"))}},
			want: []string{"x[0] OwnerUnknown Unknown"}},
		"a type in a gap, and it is not there": {of: small{things: {object("a", "x", owner("Hidden", "o"))}},
			in: check.Input{Proven: map[int]plan.OwnerState{0: plan.Absent}}, want: []string{"x[0] OwnerAbsent DeleteObject"}},
		"a type in a gap, and an owner that is not there": {
			of:   small{things: {object("a", "x", owner("Hidden", "o"), owner("Thing", "nobody"))}},
			want: []string{"x[0] OwnerUnknown Unknown", "x[1] OwnerAbsent Unknown"}},
		"a kind that is not served, and an owner that is not there": {
			of:   small{things: {object("a", "x", served("example.net/v1", "Other"), owner("Thing", "nobody"))}},
			want: []string{"x[0] KindNotServed KeepObject", "x[1] OwnerAbsent KeepObject"}},
		"a kind that is not served, and an owner that waits for the object": {
			of: small{things: {object("a", "x", served("example.net/v1", "Other"), with(owner("Gadget", "p"), blocking))},
				gadgets: {object("a", "p")}},
			want: []string{"x[0] KindNotServed KeepObject", "x[1] BlocksOwner BlockOwner"}},
		"a kind in lower case": {of: small{things: {object("a", "x", owner("gadget", "o"))},
			gadgets: {object("a", "o")}}, want: []string{"x[0] InexactKind None"}},
		"a kind in lower case, and no owner": {of: small{things: {object("a", "x", owner("gadget", "nobody"))}},
			want: []string{"x[0] InexactKind Unknown"}},
		"itself": {of: small{things: {object("a", "x", owner("Thing", "x"))}},
			want: []string{"x[0] SelfReference KeepObject"}},
		"itself, and it waits": {of: small{things: {object("a", "x", with(owner("Thing", "x"), blocking))}},
			want: []string{"x[0] SelfReference BlockDeletion"}},
		"itself, by another name": {of: small{things: {object("a", "x",
			with(owner("Thing", "x"), func(r *graph.OwnerReference) { r.Name = "y" }))}},
			want: []string{"x[0] SelfReference DeleteObject"}},
		"a circle": {of: small{things: {object("a", "x", owner("Gadget", "y"))},
			gadgets: {object("a", "y", owner("Thing", "x"))}},
			want: []string{"y[0] OwnershipCycle KeepObject", "x[0] OwnershipCycle KeepObject"}},
		"a circle that is none to the collector": {
			of: small{things: {object("a", "x", with(owner("Gadget", "y"), func(r *graph.OwnerReference) { r.Name = "z" }))},
				gadgets: {object("a", "y", owner("Thing", "x"))}},
			want: []string{"y[0] OwnershipCycle KeepObject", "x[0] WrongName DeleteObject"}},
		"two controllers": {
			of: small{things: {object("a", "x", with(owner("Gadget", "o"), controller),
				with(owner("Gadget", "p"), controller))}, gadgets: {object("a", "o"), object("a", "p")}},
			want: []string{"x[1] SeveralControllers Reject"}},
		"one uid twice": {of: small{things: {object("a", "x", owner("Gadget", "o"), with(owner("Gadget", "o"), blocking))},
			gadgets: {object("a", "o")}}, want: []string{"x[1] DuplicateReference None"}},
		"a type that the collector does not watch": {
			of: small{things: {object("a", "x", owner("Hidden", "o"))}},
			in: check.Input{Proven: map[int]plan.OwnerState{0: plan.Solid},
				Collected: func(t graph.Type) bool { return t != hidden }},
			want: []string{"x[0] OwnerNotCollected None"}},
		"a namespace that does not exist": {of: small{things: {object("a", "x")}},
			in: check.Input{GoneNamespaces: map[string]bool{"a": true}}, want: []string{"x NamespaceGone KeepObject"}},
		"an owner that waits": {of: small{things: {object("a", "x", owner("Gadget", "waiting"))}, gadgets: {waiting}},
			want: []string{"waiting DeletionPending None", "x[0] OwnerDeleting DeleteObject"}},
		"an owner that orphans": {of: small{things: {object("a", "x", owner("Gadget", "orphaning"))}, gadgets: {orphaning}},
			want: []string{"orphaning DeletionPending None", "x[0] OwnerOrphans RemoveReference"}},
		"what follows": {
			of:   small{things: {object("a", "x", owner("Thing", "nobody"))}, gadgets: {object("a", "y", owner("Thing", "x"))}},
			want: []string{"y OwnerCollected DeleteObject", "x[0] OwnerAbsent DeleteObject"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.in.Graph = test.of.build()
			findings := check.Find(test.in).Findings
			if got := lines(findings); !slices.Equal(got, test.want) && len(got)+len(test.want) > 0 {
				t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			for _, f := range findings {
				if f.Message == "" || f.Consequence == "" || f.Severity == "" || f.Remedy == "" &&
					f.Severity != string(check.Info) {
					t.Errorf("incomplete: %+v", f)
				}
			}
		})
	}
}

func gap(resource, group string) check.Input {
	return check.Input{Gaps: []v1alpha1.Gap{{Resource: resource, Group: group}}}
}

// TestCommandsTestTheReferenceThatTheyChange, since somebody else may have changed the list.
func TestCommandsTestTheReferenceThatTheyChange(t *testing.T) {
	t.Parallel()
	g := small{things: {object("a", "it's", owner("Gadget", "o"), owner("Thing", "nobody"))},
		gadgets: {object("a", "o")}}.build()
	findings := check.Find(check.Input{Graph: g}).Findings
	want := `kubectl patch 'things.example.com/it'\''s' -n a --type=json -p '[{"op":"test","path":"/metadata/ownerReferences/1/uid","value":"nobody"},{"op":"remove","path":"/metadata/ownerReferences/1"}]'`
	if len(findings) != 1 || !slices.Equal(findings[0].Commands, []string{want}) {
		t.Errorf("%+v, want %s", findings, want)
	}
}

// randomCluster is a cluster in which references are wrong in all ways, and owners are being
// deleted.
func randomCluster(rng *rand.Rand) *graph.Graph {
	types := []graph.Type{things, gadgets, clusters}
	of := small{}
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}[:2+rng.IntN(7)]
	for _, name := range names {
		t := types[rng.IntN(3)]
		o := object("", name)
		if t.Namespaced {
			o.Namespace = []string{"n", "n", "n", "m"}[rng.IntN(4)]
		}
		for range rng.IntN(3) {
			to := append(names, "nobody")[rng.IntN(len(names)+1)]
			r := graph.OwnerReference{APIVersion: "example.com/v1", Kind: types[rng.IntN(3)].Kind, Name: to, UID: to,
				Block: rng.IntN(2) == 0}
			switch rng.IntN(12) {
			case 0:
				r.Name = "other"
			case 1:
				r.Kind = "Unserved"
			case 2:
				r.APIVersion = "example.com/v1alpha1"
			case 3:
				r.Kind = strings.ToLower(r.Kind)
			case 4:
				r.Kind = hidden.Kind
			}
			o.Owners = append(o.Owners, r)
		}
		switch rng.IntN(6) {
		case 0:
			o.DeletionTimestamp, o.Finalizers = 1, []string{plan.ForegroundFinalizer}
		case 1:
			o.DeletionTimestamp, o.Finalizers = 1, []string{plan.OrphanFinalizer}
		case 2:
			o.DeletionTimestamp, o.Finalizers = 1, []string{"example.com/x"}
		}
		of[t] = append(of[t], o)
	}
	return of.build()
}

// TestWhatARunTouchesHasAFinding, in random clusters: each object that the loop writes to has one,
// and an object without findings is left as it is. What is said to be deleted or stripped is, if
// the loop acts as the cluster's collector does.
func TestWhatARunTouchesHasAFinding(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		g := randomCluster(rand.New(rand.NewPCG(seed, 14)))
		effects := map[graph.ID][]string{}
		for _, f := range check.Find(check.Input{Graph: g}).Findings {
			id, _ := g.Lookup(f.Object.UID)
			if strings.Contains(f.Consequence, "at the latest when the owner is gone") {
				f.Effect = "" // which a run does not wait for
			}
			effects[id] = append(effects[id], f.Effect)
		}
		run := plan.NewRun(g, plan.Options{})
		touched := map[graph.ID]map[plan.Verb]bool{}
		for _, a := range run.Actions {
			if len(effects[a.Object]) == 0 {
				t.Fatalf("seed %d: run does %s to %s, which has no finding", seed, a.Verb, g.Ref(a.Object).Located())
			}
			if touched[a.Object] == nil {
				touched[a.Object] = map[plan.Verb]bool{}
			}
			touched[a.Object][a.Verb] = true
		}
		for id, all := range effects {
			if slices.Contains(all, string(check.DeleteObject)) && !touched[id][plan.VerbDelete] {
				t.Fatalf("seed %d: %s is said to be deleted, and run does not", seed, g.Ref(id).Located())
			}
			goes := false // an owner, before the reference to another is removed
			for e := range g.Owners(id) {
				goes = goes || touched[e.Owner][plan.VerbDelete]
			}
			if slices.Contains(all, string(check.RemoveReference)) && len(touched[id]) == 0 && !goes {
				t.Fatalf("seed %d: %s is said to lose a reference, and run does nothing to it", seed, g.Ref(id).Located())
			}
		}
	}
}
