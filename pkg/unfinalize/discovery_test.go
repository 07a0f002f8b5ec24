package unfinalize

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
)

var leaseType = graph.Type{Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Kind: "Lease",
	Namespaced: true}

// hiding are the methods in which discovery does not show a group that the server serves.
func hiding(group string) map[string]faultproxy.Fault {
	return map[string]faultproxy.Fault{
		"a version without resources": faultproxy.EmptyVersion(group, "v1"),
		"no such group":               faultproxy.WithoutGroup(group),
	}
}

// TestDependentOfAHiddenTypeIsKept_API056: its owner keeps the finalizer as long as discovery does
// not show the type, when it is judged and when it is written to, and the dependent is orphaned
// when discovery shows it again.
func TestDependentOfAHiddenTypeIsKept_API056(t *testing.T) {
	for name, fault := range hiding(leaseType.Group) {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			owner := f.orphaning("owner")
			f.own(leaseType, "a", owner)
			all := Overrides{Force: true, ForceLive: true}

			always := faultproxy.Start(t, f.c.Config())
			client := connect(t, always.Config())
			agreed := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]
			always.On(faultproxy.Groups, fault)
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

			once := faultproxy.Start(t, f.c.Config())
			client = connect(t, once.Config())
			once.On(faultproxy.Groups, faultproxy.Times(1, fault))
			if c := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]; !slices.Equal(codes(c, all),
				[]Code{HiddenDependents}) {
				t.Errorf("refusals %v with the fault once, want HiddenDependents", codes(c, all))
			}
			once.On(faultproxy.Groups, faultproxy.Times(1, fault))
			if o := f.performOn(client, all, Options{}, agreed)[0]; !errors.As(o.Err, &refused) {
				t.Errorf("%s, want a refusal", says(o))
			}
			f.is(configMapType, "owner", plan.OrphanFinalizer)
			c := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]
			want(t, f.perform(client, Options{}, c)[0], "orphan a ; removeFinalizer owner orphan; gone")
			if got := f.owners(leaseType, "a"); got != nil {
				t.Errorf("a: owners %v, want none", got)
			}
		})
	}
}

// TestNamespaceWithAHiddenTypeIsNotProvenEmpty_API056: whether discovery hides it in the first
// listing of the proof, in the second, in the one before the write, or always.
func TestNamespaceWithAHiddenTypeIsNotProvenEmpty_API056(t *testing.T) {
	for name, fault := range hiding(leaseType.Group) {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.make(leaseType, "hidden")
			f.terminating()
			for _, during := range []string{"first listing", "second listing", "always"} {
				proxy := faultproxy.Start(t, f.c.Config())
				client := connect(t, proxy.Config())
				switch during {
				case "always":
					proxy.On(faultproxy.Groups, fault)
				case "first listing":
					proxy.On(faultproxy.Groups, faultproxy.Times(1, fault))
				case "second listing":
					proxy.On(listOf("leases"), faultproxy.Times(1, empty))
					proxy.On(faultproxy.Groups, after(1, fault))
				}
				if got := codes(f.judgeNamespace(client), Overrides{}); !slices.Equal(got, []Code{NotProvenEmpty}) {
					t.Errorf("%s: refusals %v, want NotProvenEmpty", during, got)
				}
			}
			proxy := faultproxy.Start(t, f.c.Config())
			client := connect(t, proxy.Config())
			proxy.On(listOf("leases"), empty)
			c := f.judgeNamespace(client)
			if c.Refused(Overrides{}) {
				t.Fatalf("refused: %+v", c.Assessments)
			}
			proxy.On(faultproxy.Groups, fault)
			o := f.perform(client, Options{}, c)[0]
			var refused *RefusedError
			if !errors.As(o.Err, &refused) || refused.Refusals[0].Code != NotProvenEmpty {
				t.Errorf("before the write: %s, want a refusal", says(o))
			}
			if f.get(cluster.NamespaceType, f.namespace) == nil {
				t.Error("the namespace was finalized")
			}
		})
	}
}

// after passes n requests on before it applies a fault.
func after(n int, fault faultproxy.Fault) faultproxy.Fault {
	pass := func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }
	passed := 0
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if passed++; passed <= n {
			pass(w, r, next)
			return
		}
		fault(w, r, next)
	}
}

// TestNothingIsKnownWithoutTheCoreGroup_RO013: neither of an owner's dependents nor of a
// namespace's content.
func TestNothingIsKnownWithoutTheCoreGroup_RO013(t *testing.T) {
	f := newFixture(t)
	f.orphaning("owner")
	proxy := faultproxy.Start(t, f.c.Config())
	proxy.On(faultproxy.Core, faultproxy.Plain(404, "404 page not found"))
	client := connect(t, proxy.Config())
	_, errs := newAssessor(client, lives{}).Candidates(t.Context(),
		[]Target{{Type: configMapType, Namespace: f.namespace, Name: "owner"}},
		func(*unstructured.Unstructured) []string { return []string{plan.OrphanFinalizer} })
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "discovery shows no namespaces") {
		t.Errorf("error %v", errs[0])
	}
}

// TestPlain404OfADryRunIsARefusal: only the server's own word that the object is gone leaves the
// matter to the write itself.
func TestPlain404OfADryRunIsARefusal(t *testing.T) {
	for name, fault := range map[string]faultproxy.Fault{
		"a proxy's":         faultproxy.Plain(404, "404 page not found"),
		"without an object": faultproxy.Status(404, metav1.StatusReasonNotFound, "not found"),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.make(configMapType, "held", hold)
			f.delete(configMapType, "held", metav1.DeletePropagationBackground)
			owner := f.orphaning("owner")
			f.own(configMapType, "dependent", owner)
			proxy := faultproxy.Start(t, f.c.Config())
			client := connect(t, proxy.Config())
			waiting := f.judge(client, configMapType, []string{hold}, "held")[0]
			orphan := f.judge(client, configMapType, []string{plan.OrphanFinalizer}, "owner")[0]
			for _, path := range []string{"/held", "/dependent"} {
				proxy.On(func(r *http.Request) bool {
					return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, path)
				}, fault)
			}
			if err := dryRunAll(t.Context(), client, []*Candidate{waiting, orphan}, Overrides{}); err != nil {
				t.Fatal(err)
			}
			for _, c := range []*Candidate{waiting, orphan} {
				if got := codes(c, Overrides{}); !slices.Equal(got, []Code{ServerRefuses}) {
					t.Errorf("%s: refusals %v, want ServerRefuses", c.Ref.Name, got)
				}
			}
		})
	}
}
