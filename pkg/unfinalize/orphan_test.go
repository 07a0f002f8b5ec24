package unfinalize

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
)

// own makes an object with owners, of which those without a uid are gone.
func (f *fixture) own(t graph.Type, name string, owners ...metav1.OwnerReference) {
	f.t.Helper()
	var refs []any
	for _, o := range owners {
		refs = append(refs, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": o.Name, "uid": string(o.UID)})
	}
	f.create(t, map[string]any{"metadata": map[string]any{"name": name, "ownerReferences": refs}})
}

// orphaning makes an owner that waits for being orphaned, and says how its dependents refer to it.
func (f *fixture) orphaning(name string) metav1.OwnerReference {
	f.t.Helper()
	o := f.make(configMapType, name)
	f.delete(configMapType, name, metav1.DeletePropagationOrphan)
	f.is(configMapType, name, plan.OrphanFinalizer)
	return metav1.OwnerReference{Name: name, UID: o.GetUID()}
}

func (f *fixture) owners(t graph.Type, name string) []string {
	f.t.Helper()
	o := f.get(t, name)
	if o == nil {
		return []string{"(gone)"}
	}
	var names []string
	for _, r := range o.GetOwnerReferences() {
		names = append(names, r.Name)
	}
	return names
}

// TestOrphaningIsCompletedBeforeTheFinalizerComesOff: the dependents, of whatever type, lose their
// references to the owner and nothing else, and are not assessed: one whose other owner is gone is
// left to the collector.
func TestOrphaningIsCompletedBeforeTheFinalizerComesOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.custom()
	owner := f.orphaning("owner")
	gone := metav1.OwnerReference{Name: "nobody", UID: "11111111-0000-4000-8000-000000000001"}
	f.own(configMapType, "a", owner)
	f.own(heldType, "b", gone, owner, owner)
	f.own(configMapType, "c", gone)
	c := f.judge(f.client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]
	if len(c.Dependents) != 2 || c.Assessments[0].Method != ByOrphaning || c.Refused(Overrides{}) {
		t.Errorf("%+v of %+v, want an orphaning of two", c.Assessments, c.Dependents)
	}
	o := f.perform(f.client, Options{}, c)[0]
	want(t, o, "orphan a ; orphan b ; removeFinalizer owner orphan; gone")
	if o.Done[len(o.Done)-1].Verb != plan.VerbRemoveFinalizer {
		t.Errorf("the finalizer did not come off last: %+v", o.Done)
	}
	f.is(configMapType, "owner")
	for name, want := range map[string][]string{"a": nil, "c": {"nobody"}} {
		if got := f.owners(configMapType, name); !slices.Equal(got, want) {
			t.Errorf("%s: owners %v, want %v", name, got, want)
		}
	}
	if got := f.owners(heldType, "b"); !slices.Equal(got, []string{"nobody"}) {
		t.Errorf("b: owners %v, want nobody", got)
	}
}

// TestHiddenDependentsAreNeverCondemned: what cannot be listed can hide one, and no flag makes the
// finalizer come off then; neither when the gap comes up after the assessment.
func TestHiddenDependentsAreNeverCondemned(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := f.orphaning("owner")
	f.own(configMapType, "a", owner)
	proxy := faultproxy.Start(t, f.c.Config())
	client := connect(t, proxy.Config())
	agreed := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]
	proxy.On(func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/secrets")
	},
		faultproxy.Status(403, metav1.StatusReasonForbidden, "you may not"))
	all := Overrides{Force: true, ForceLive: true}
	if c := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]; !slices.Equal(codes(c, all),
		[]Code{HiddenDependents}) {
		t.Errorf("refusals %v, want HiddenDependents", codes(c, all))
	}
	o := f.performOn(client, all, Options{}, agreed)[0]
	var refused *RefusedError
	if !errors.As(o.Err, &refused) || refused.Refusals[0].Code != HiddenDependents {
		t.Errorf("%s, want a refusal", says(o))
	}
	f.is(configMapType, "owner", plan.OrphanFinalizer)
}

// TestOrphaningThatFailsKeepsTheFinalizer: a dependent that cannot be written to keeps its
// reference, and its owner the finalizer.
func TestOrphaningThatFailsKeepsTheFinalizer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := f.orphaning("owner")
	f.own(configMapType, "a", owner)
	f.own(configMapType, "b", owner)
	proxy := faultproxy.Start(t, f.c.Config())
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/b") },
		faultproxy.Status(500, metav1.StatusReasonInternalError, "no"))
	client := connect(t, proxy.Config())
	c := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]
	if err := dryRunAll(t.Context(), client, []*Candidate{c}, Overrides{}); err != nil {
		t.Fatal(err)
	}
	if got := codes(c, Overrides{}); !slices.Equal(got, []Code{ServerRefuses}) {
		t.Errorf("refusals %v, want ServerRefuses", got)
	}
	unasked := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0] // of whom no dry run was sent
	o := f.perform(client, Options{}, unasked)[0]
	if o.Err == nil || !strings.Contains(o.Err.Error(), "so it keeps its finalizer") {
		t.Errorf("%s, want that it keeps its finalizer", says(o))
	}
	f.is(configMapType, "owner", plan.OrphanFinalizer)
}

// TestLateDependentIsOrphanedToo: one that comes up after the last listing that was begun before
// the finalizer is removed keeps living.
func TestLateDependentIsOrphanedToo(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := f.orphaning("owner")
	proxy := faultproxy.Start(t, f.c.Config())
	client := connect(t, proxy.Config())
	c := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]
	before(proxy, method(http.MethodPatch), func() { f.own(configMapType, "late", owner) })
	want(t, f.perform(client, Options{}, c)[0], "orphan late ; removeFinalizer owner orphan; gone")
	if got := f.owners(configMapType, "late"); got != nil {
		t.Errorf("late: owners %v, want none", got)
	}
}

// TestLeavesFirst: dependents come in an earlier batch than their owners, whatever the method to
// them, and a cycle comes to an end.
func TestLeavesFirst(t *testing.T) {
	b := graph.NewBuilder()
	b.Serve(configMapType)
	list := b.Listing(configMapType, "ns")
	for name, owners := range map[string]string{"a": "", "b": "a", "c": "b a", "d": "c", "e": "a f", "f": "e", "x": ""} {
		o := graph.Object{Namespace: "ns", Name: name, UID: name}
		for _, owner := range strings.Fields(owners) {
			o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: owner})
		}
		list.Add(o)
	}
	list.Complete()
	g := b.Build()
	root, _ := g.Lookup("a")
	var got []string
	for _, batch := range LeavesFirst(g, root, func(graph.ID) []graph.Link { return nil }) {
		var names []string
		for _, id := range batch {
			names = append(names, g.Ref(id).Name)
		}
		got = append(got, strings.Join(names, ""))
	}
	if want := "df ce b a"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, " "), want)
	}
}
